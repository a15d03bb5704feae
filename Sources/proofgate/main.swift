import ArgumentParser
import Reactor

// Not `CommandLine.arguments`, which is empty if /proc is not mounted.
Proofgate.start(Array(ProcessSettings.arguments.dropFirst()))
