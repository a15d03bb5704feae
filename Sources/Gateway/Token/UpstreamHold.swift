import Policy
import Reactor

/// The time for which one request may hold a claim in the store while it contacts the upstream.
///
/// After its lease, another request may take over the claim. So a request that has waited too long for the store, e.g.
/// because its process was stopped, must not contact the upstream any more.
struct UpstreamHold {
  /// The time for reading the body of a response, in seconds.
  private static let bodyTime: Int64 = 30
  /// The time between the claim and the upstream request, in seconds: more than an operation of the store may take.
  private static let storeTime: Int64 = 10

  /// The lease of the claim in seconds: longer than any upstream request takes.
  let lease: Int64
  private let began: UInt64

  /// Begins the hold. Create it immediately before the claim.
  ///
  /// - Parameter now: The time in monotonic milliseconds.
  init(_ upstream: UpstreamSettings, now: UInt64 = SystemClock.monotonicMilliseconds()) {
    lease =
      Int64(upstream.connectTimeout + upstream.responseTimeout) / 1_000 + UpstreamHold.bodyTime + UpstreamHold.storeTime
    began = now
  }

  /// True if the claim lives longer than an upstream request that begins now.
  var permitsRequest: Bool { permitsRequest(at: SystemClock.monotonicMilliseconds()) }

  /// Returns true if the claim lives longer than an upstream request that begins at `now`, in monotonic milliseconds.
  func permitsRequest(at now: UInt64) -> Bool { now < began + UInt64(UpstreamHold.storeTime) * 1_000 }
}
