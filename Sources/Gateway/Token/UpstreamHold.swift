import Policy
import Reactor
import Time

/// The time for which one request may hold a claim in the store while it contacts the upstream.
///
/// After its lease, another request may take over the claim. So a request that has waited too long for the store, e.g.
/// because its process was stopped, must not contact the upstream any more.
struct UpstreamHold {
  /// The time for reading the body of a response.
  private static let bodyTime: Seconds = 30
  /// The time between the claim and the upstream request: more than an operation of the store may take.
  private static let storeTime: Seconds = 10

  /// The lease of the claim: longer than any upstream request takes.
  let lease: Seconds
  private let began: MonotonicTime

  /// Begins the hold. Create it immediately before the claim.
  init(_ upstream: UpstreamSettings, now: MonotonicTime = SystemClock.monotonicTime()) {
    lease =
      Seconds(upstream.connectTimeout + upstream.responseTimeout) + UpstreamHold.bodyTime + UpstreamHold.storeTime
    began = now
  }

  /// True if the claim lives longer than an upstream request that begins now.
  var permitsRequest: Bool { permitsRequest(at: SystemClock.monotonicTime()) }

  /// Returns true if the claim lives longer than an upstream request that begins at `now`.
  func permitsRequest(at now: MonotonicTime) -> Bool { now < began + Milliseconds(UpstreamHold.storeTime) }
}
