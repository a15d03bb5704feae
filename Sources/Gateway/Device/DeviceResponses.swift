import Enforcement
import HTTP
import JSON
import OAuth
import Stores
import Time

/// Keeps the response with the tokens of a device for a minute, for a device that did not receive it. The device polls
/// again (RFC 8628, section 3.5), and gets the same response.
///
/// The response is sealed under a key that depends on the device code, so only its holder can get the response. It is
/// gone as soon as the device has used its refresh token, or the login has ended.
struct DeviceResponses {
  private let intercepted: InterceptedRequest
  private let held: HeldResponses
  private let family: TransactionID

  /// - Parameter family: The login of the tokens in the response.
  init(_ intercepted: InterceptedRequest, _ poll: DevicePollPermit, family: TransactionID) {
    self.intercepted = intercepted
    self.family = family
    held = HeldResponses(intercepted, poll, family: family)
  }

  // MARK: The first poll

  /// Reserves room for the response. Without room, the device gets the response, but a repeat of the poll does not.
  func reserve() async { _ = await held.reserve(for: 0) }

  /// Frees the room, because there is no response for the device.
  func release() async { await held.remove() }

  /// Stores the response in the reserved room.
  func keep(_ members: [String: JSONValue]) async {
    // A second poll must not wait for a response that is never stored.
    if await held.keep(members) == nil { await held.remove() }
  }

  // MARK: A repeated poll

  /// Answers a poll after another one has used the device code.
  ///
  /// - Parameter wait: The wait for the response of the other poll, which may be in progress.
  func respond(_ wait: inout ProgressWait) async throws(StoreError) -> Response {
    while true {
      switch try await held.find() {
      case .answer(let members):
        // After a refresh, the refresh token in the response is used up: a device that sent it would lose its login.
        guard try await intercepted.gateway.resources.refreshFamilies.isUnused(family, now: intercepted.now) else {
          return intercepted.tokenRejection(.withoutRedirect(.deviceCodeUsed))
        }
        intercepted.trail.family = family
        intercepted.trail.findings.append("poll-repeated")
        return intercepted.tokenResponse(members)
      case .reserved:
        guard await wait.pause() else { return intercepted.tokenRejection(.withoutRedirect(.codeBusy)) }
      case .missing, .requestDiffers: return intercepted.tokenRejection(.withoutRedirect(.deviceCodeUsed))
      }
    }
  }
}
