import Reactor

/// The number of processors that this process may use, and so the default number of workers: more workers than
/// processors would only delay each other.
enum Processors {
  /// The number of processors in the affinity mask, or the limit of the control groups if it is smaller; at least 1.
  static var usable: Int { max(1, min(OSThread.affinityCount, ControlGroups.own.processors ?? .max)) }
}
