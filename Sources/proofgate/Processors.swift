import Reactor

/// How many event loops make sense here: more than the process may use processors only make each other wait.
enum Processors {
  /// The smaller of what the affinity mask and the control groups allow; at least 1.
  static var usable: Int { max(1, min(Thread.affinityCount, ControlGroups.own.processors ?? .max)) }
}
