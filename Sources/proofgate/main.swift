import ArgumentParser
import Reactor

ProcessControl.reportCrashes()
// `CommandLine.arguments` is not used, because it is empty if /proc is not mounted.
Proofgate.start(Array(ProcessControl.arguments.dropFirst()))
