import Policy
import Reactor
import Time

/// The time for which one request may hold a claim in the store while it contacts the upstream.
///
/// After the lease of the claim, another request may take over the claim. So a request that has waited too long for the
/// store, e.g. because its process was stopped, must not contact the upstream any more. The same is true for a
/// request of a process that other processes may soon treat as ended (`EphemeralStore.isGone`), because they may then
/// take over the claims of this process.
struct UpstreamHold {
  /// The time for which the request may wait for an upstream connection (`ProxyConfiguration.queueTimeout`).
  private static let queueTime: Milliseconds = 5_000
  /// The maximum time between the claim and the upstream request. It is longer than an operation of the store may take.
  private static let storeTime: Seconds = 10
  /// The time for which the claim must still be safe from other processes when the caller checks it, just before the
  /// upstream request (`RedemptionLedger.isHeld`, `RefreshLedger.isHeld`). It is longer than the steps between the
  /// check and the request, which are in one turn of the loop. It need not cover the time until the response, because
  /// the ledger then ends the claim only if no other request has taken it over.
  static let claimSafetyTime: Milliseconds = 1_000

  /// The lease of the claim: longer than any upstream request takes. A token request fits into the socket's send
  /// buffer, so the time to send it does not count.
  let lease: Seconds
  private let began: MonotonicTime

  /// Begins the hold. Create it immediately before the claim.
  ///
  /// - Parameter bodyTimeout: The maximum time for reading the body of the response.
  init(
    _ upstream: UpstreamSettings, bodyTimeout: Milliseconds, now: MonotonicTime = SystemClock.monotonicTime()
  ) {
    let requestTime = UpstreamHold.queueTime + upstream.connectTimeout + upstream.responseTimeout + bodyTimeout
    // `+ 1` makes up for the fraction of a second that the conversion drops.
    lease = Seconds(requestTime) + 1 + UpstreamHold.storeTime
    began = now
  }

  /// True if the claim lives longer than an upstream request that begins now.
  var permitsRequest: Bool { permitsRequest(at: SystemClock.monotonicTime()) }

  /// Returns true if the claim lives longer than an upstream request that begins at `now`.
  func permitsRequest(at now: MonotonicTime) -> Bool { now < began + Milliseconds(UpstreamHold.storeTime) }
}
