import ArgumentParser
import Reactor

// Not `CommandLine.arguments`: those are empty where there is no /proc.
Proofgate.start(Array(ProcessSettings.arguments.dropFirst()))
