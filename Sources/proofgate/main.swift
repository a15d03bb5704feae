import ArgumentParser
import Reactor

ProcessControl.reportCrashes()
// Until the command is known: a signal for `serve` waits until it is ready, and one for `check` ends it.
Signals.block()
// `CommandLine.arguments` is not used, because it is empty if /proc is not mounted.
Proofgate.start(Array(ProcessControl.arguments.dropFirst()))
