import Reactor

/// The processors that this process may use. Their number is the default number of workers, because more workers would
/// only delay each other.
enum Processors {
  /// The number of processors in the affinity mask, or the limit of the control groups if it is smaller; at least 1.
  static var usable: Int { max(1, min(OSThread.usableProcessorCount, ControlGroups.ofThisProcess.processors ?? .max)) }
}
