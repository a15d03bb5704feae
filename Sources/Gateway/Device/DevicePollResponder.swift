import Enforcement
import HTTP
import OAuth
import Policy
import Sealing
import Stores
import Telemetry
import Time

/// Answers the poll of a device at the token endpoint (RFC 8628, sections 3.4 and 3.5).
///
/// The first poll after the approval redeems the upstream's code, so the tokens of a device that does not poll never
/// exist. A poll that overlaps with it or repeats it gets the same response (`DeviceResponses`), and `invalid_grant` after
/// a minute. If the user denies the flow while the upstream redeems the code, the tokens are revoked. If the upstream runs
/// the flow, the poll is sent there.
struct DevicePollResponder {
  private let intercepted: InterceptedRequest
  private let poll: DevicePoll

  init(_ intercepted: InterceptedRequest, _ poll: DevicePoll) {
    self.intercepted = intercepted
    self.poll = poll
  }

  private var flows: DeviceFlows { intercepted.gateway.deviceFlows }

  func respond() async -> Response {
    let opened: Opened<DeviceCode> = intercepted.gateway.sealer.opened(poll.deviceCode.reveal())
    if case .value(let deviceCode) = opened { intercepted.trail.transaction = deviceCode.flow }
    let outcome = Enforcement.decideDevicePoll(
      poll, opened: opened, policy: intercepted.policy, now: intercepted.now)
    intercepted.trail.record(outcome)
    guard let permit = outcome.permit else {
      return intercepted.tokenRejection(outcome.refusal ?? .withoutRedirect(.deviceCodeUnknown))
    }
    guard intercepted.countRepeatable(in: permit.deviceCode.flow) else { return refuse(.devicePollTooFast) }
    if let redemption = Enforcement.upstreamPoll(permit, policy: intercepted.policy) {
      if let throttled = intercepted.throttled(proven: permit.client) { return throttled }
      return await CodeRedeemer(intercepted, redemption, for: permit).respond()
    }
    do throws(StoreError) {
      return try await respond(permit)
    } catch {
      return intercepted.tokenRejection(.withoutRedirect(.storeUnavailable))
    }
  }

  private func respond(_ permit: DevicePollPermit) async throws(StoreError) -> Response {
    let id = permit.deviceCode.flow
    let now = intercepted.now
    var isTooFast = false
    let update = try await flows.update(id, now: now) { flow in
      switch flow.state {
      case .pending, .bound:
        var polled = flow
        isTooFast = !polled.recordPoll(at: now)
        return polled
      case .approved, .ended, .redeemed: return nil
      }
    }
    // The store may have lost the flow, or removed it to make room for others. The device starts again.
    guard let flow = update?.before else { return refuse(.deviceCodeExpired) }
    switch flow.state {
    case .pending, .bound:
      if isTooFast { return refuse(.devicePollTooFast) }
      return intercepted.authorizationPending
    case .ended: return refuse(.deviceDenied)
    case .redeemed(let digest): return try await answerRepeat(permit, codeDigest: digest)
    case .approved(let digest): return try await redeem(permit, codeDigest: digest)
    }
  }

  /// Redeems the upstream's code. The claim on the code (`RedemptionLedger`) ensures that only one poll does so.
  private func redeem(_ permit: DevicePollPermit, codeDigest digest: [UInt8]) async throws(StoreError) -> Response {
    if let throttled = intercepted.throttled(proven: permit.client) { return throttled }
    let id = permit.deviceCode.flow
    guard let code = try await flows.answer(of: id, now: intercepted.now) else {
      // Another poll has redeemed the code, or the store no longer has it.
      let flow = try await flows.find(id, now: intercepted.now)?.flow
      guard case .redeemed = flow?.state else { return refuse(.deviceCodeExpired) }
      return try await answerRepeat(permit, codeDigest: digest)
    }
    let outcome = Enforcement.decideDeviceRedemption(permit, code: code, policy: intercepted.policy)
    intercepted.trail.record(outcome)
    guard let redemption = outcome.permit else {
      return intercepted.tokenRejection(outcome.refusal ?? .withoutRedirect(.codeOutdated))
    }
    let redeemer = CodeRedeemer(intercepted, redemption, for: permit)
    let response = await redeemer.respond()
    // After an error of the server or the store, or wrong credentials, the device may poll again.
    guard response.status == 200 || response.status == 400 else { return response }
    guard await endFlow(id, codeDigest: digest) else {
      if response.status == 200 { try await redeemer.withdraw(response) }
      return refuse(.deviceDenied)
    }
    return response
  }

  /// Records that the code of an approved flow is redeemed. Returns false if the flow has ended since the poll read it: the
  /// user has denied it in the meantime, and the device must not get tokens.
  private func endFlow(_ id: TransactionID, codeDigest digest: [UInt8]) async -> Bool {
    do throws(StoreError) {
      let update = try await flows.update(id, now: intercepted.now) { flow in
        guard case .approved = flow.state else { return nil }
        var redeemed = flow
        redeemed.state = .redeemed(codeDigest: digest)
        return redeemed
      }
      try await flows.removeAnswer(of: id, now: intercepted.now)
      if case .ended = update?.before.state { return false }
    } catch {
      // The claim on the code still refuses a second redemption.
      intercepted.trail.findings.append("device-flow-not-ended")
    }
    return true
  }

  /// Answers a poll after the code was redeemed, or refused by the upstream.
  private func answerRepeat(
    _ permit: DevicePollPermit, codeDigest: [UInt8]
  ) async throws(StoreError) -> Response {
    guard let digest = UpstreamCodeDigest(bytes: codeDigest) else { return refuse(.deviceCodeUsed) }
    let family = TransactionID(ofLoginWith: digest, in: permit.deviceCode.flow)
    var wait = ProgressWait()
    return try await DeviceResponses(intercepted, permit, family: family).respond(&wait)
  }

  private func refuse(_ rejection: Rejection) -> Response {
    intercepted.tokenRejection(.withoutRedirect(rejection))
  }
}

extension InterceptedRequest {
  /// The response to a poll before the user's decision (RFC 8628, section 3.5). It is no refusal.
  var authorizationPending: Response {
    trail.step = .pending
    return tokenError(.authorizationPending, status: 400, description: "the user has not decided yet")
  }
}
