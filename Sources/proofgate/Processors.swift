import Reactor

/// The number of event loops that make sense on this machine: loops beyond the usable processors only delay each other.
enum Processors {
  /// The smaller of the limits of the affinity mask and of the control groups; at least 1.
  static var usable: Int { max(1, min(Thread.affinityCount, ControlGroups.own.processors ?? .max)) }
}
