import ArgumentParser
import Reactor

// Not `CommandLine.arguments`: those are empty where there is no /proc.
Proofgate.main(Array(ProcessSettings.arguments.dropFirst()))
