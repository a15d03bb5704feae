import Cryptography
public import Time

/// The content of a device code (RFC 8628, section 3.2). The device gets it sealed (encrypted and authenticated), so the
/// gateway recognises an expired device code without the store.
public struct DeviceCode: Sendable, Equatable {
  /// The id of the flow. The sign-in that the user begins in a browser has the same id.
  public var flow: TransactionID
  /// The client that started the flow.
  public var clientID: ClientID
  /// The time at which the flow expires.
  public var expiry: UnixTime
  /// The identifier of the resource in the request of the device (RFC 8707); `nil` if the request named none.
  public var resource: String?
  /// The device code of the upstream, if the upstream runs the flow; `nil` if the gateway runs it.
  public var upstream: UpstreamDeviceCode?

  /// Creates the content from its parts.
  public init(
    flow: TransactionID, clientID: ClientID, expiry: UnixTime, resource: String? = nil,
    upstream: UpstreamDeviceCode? = nil
  ) {
    self.flow = flow
    self.clientID = clientID
    self.expiry = expiry
    self.resource = resource
    self.upstream = upstream
  }
}

/// The device code that the upstream has issued for a flow, with the values that its redemption needs.
public struct UpstreamDeviceCode: Sendable, Equatable {
  /// The longest device code that the gateway accepts, in bytes. A device sends it with every poll.
  public static let maximumLength = 2_048

  /// The upstream's code.
  public var code: Secret
  /// The client id in the gateway's requests to the upstream.
  public var upstreamClientID: ClientID
  /// The scope in the request of the device; `nil` if it had none.
  public var scope: Scope?
  /// The epoch of the store when the flow began. Only a store that is still in this epoch can guarantee that the code is
  /// used only once.
  public var epoch: EpochID
  /// The id of the upstream's address that issued the code; `nil` if the upstream has one address.
  public var upstreamAddress: UInt16?

  /// Creates the content from its parts. Returns `nil` if the code is empty or too long.
  public init?(code: Secret, upstreamClientID: ClientID, scope: Scope?, epoch: EpochID) {
    guard (1...UpstreamDeviceCode.maximumLength).contains(code.reveal().utf8.count) else { return nil }
    self.code = code
    self.upstreamClientID = upstreamClientID
    self.scope = scope
    self.epoch = epoch
  }

  /// Returns true if all values are equal. The time does not depend on the position of the first difference in the code.
  public static func == (left: UpstreamDeviceCode, right: UpstreamDeviceCode) -> Bool {
    constantTimeEqual(left.code.reveal(), right.code.reveal()) && left.upstreamClientID == right.upstreamClientID
      && left.scope == right.scope && left.epoch == right.epoch && left.upstreamAddress == right.upstreamAddress
  }
}

/// The store's record of a device flow.
///
///     pending --enter the code--> bound --approve--> approved --redeem--> redeemed
///                                   |                   |
///                                   +------> ended <----+  (deny, or approve a second sign-in)
public struct DeviceFlow: Sendable, Equatable {
  /// The state of a flow.
  public enum State: Sendable, Equatable {
    /// No browser has entered the user code.
    case pending
    /// A browser has entered the user code, and only this browser can continue. The value is the SHA-256 digest of the
    /// secret in the cookie of the browser, 32 bytes.
    case bound(browserHash: [UInt8])
    /// The user has approved. The store has the upstream's code until the device polls. The value is the digest of
    /// that code.
    case approved(codeDigest: [UInt8])
    /// The user has denied, or has approved a second sign-in.
    case ended
    /// The upstream has issued tokens for the code, or has refused it. The value is the digest of the code, from which
    /// the login of the tokens follows; empty if it is not known.
    case redeemed(codeDigest: [UInt8])
  }

  /// The initial number of seconds between two polls (RFC 8628, section 3.2).
  public static let initialInterval: Seconds = 5
  /// The time by which the interval grows after a poll that is too fast (RFC 8628, section 3.5).
  static let intervalStep: Seconds = 5
  /// The time by which a poll may be early. The clock of the gateway has a resolution of a second, so two polls with
  /// the exact interval between them may seem closer by almost a second.
  static let tolerance: Seconds = 1

  /// The state.
  public var state: State
  /// The client that started the flow.
  public var clientID: ClientID
  /// The requested scope; `nil` if the request had none.
  public var scope: Scope?
  /// The identifier of the requested resource (RFC 8707); `nil` if the request named none.
  public var resource: String?
  /// The code that the user types.
  public var userCode: UserCode
  /// The network from which the device started the flow, such as `192.0.2.0/24`.
  public var network: String
  /// The time at which the device started the flow.
  public var start: UnixTime
  /// The time at which the flow expires.
  public var expiry: UnixTime
  /// The present number of seconds between two polls.
  public private(set) var interval: Seconds
  /// The time of the last poll; `nil` before the first one.
  public private(set) var lastPoll: UnixTime?

  /// Creates a record from its parts.
  public init(
    state: State = .pending, clientID: ClientID, scope: Scope?, resource: String? = nil, userCode: UserCode,
    network: String, start: UnixTime, expiry: UnixTime, interval: Seconds = DeviceFlow.initialInterval,
    lastPoll: UnixTime? = nil
  ) {
    self.state = state
    self.clientID = clientID
    self.scope = scope
    self.resource = resource
    self.userCode = userCode
    self.network = network
    self.start = start
    self.expiry = expiry
    self.interval = interval
    self.lastPoll = lastPoll
  }

  /// Records a poll while the user has not decided. Returns false if the poll is too fast: the interval then grows for
  /// the rest of the flow.
  public mutating func recordPoll(at now: UnixTime) -> Bool {
    let isEarly = lastPoll.map { now - $0 < interval - DeviceFlow.tolerance } ?? false
    lastPoll = now
    if isEarly { interval = interval + DeviceFlow.intervalStep }
    return !isEarly
  }
}
