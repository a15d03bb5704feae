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

  /// Creates the content from its parts.
  public init(flow: TransactionID, clientID: ClientID, expiry: UnixTime) {
    self.flow = flow
    self.clientID = clientID
    self.expiry = expiry
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
    /// The device has received its tokens, or the upstream has refused the code.
    case redeemed
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
    state: State = .pending, clientID: ClientID, scope: Scope?, userCode: UserCode, network: String, start: UnixTime,
    expiry: UnixTime, interval: Seconds = DeviceFlow.initialInterval, lastPoll: UnixTime? = nil
  ) {
    self.state = state
    self.clientID = clientID
    self.scope = scope
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
