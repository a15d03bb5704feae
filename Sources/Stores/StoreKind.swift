internal import Time

/// A kind of store entry. The raw values are part of keys in shared stores, so they must never change.
public enum StoreKind: UInt8, Sendable, CaseIterable {
  /// The claim on the single use of a code, and its result.
  case claim = 0x63
  /// The digest of an upstream code, with the transaction that received it.
  case code = 0x78
  /// A family of refresh tokens.
  case family = 0x66
  /// The sealed tokens that are revoked if a code is replayed.
  case tokens = 0x74
  /// The sealed answer to a refresh or to the poll of a device, kept for a repeat of the request.
  case answer = 0x61
  /// A sealed state, represented by a short handle.
  case state = 0x68
  /// A pushed authorization request.
  case pushed = 0x70
  /// The digest of an access token, with its client and resource.
  case access = 0x6b
  /// The sealed record of a device flow.
  case device = 0x64
  /// The device flow to which a user code belongs.
  case userCode = 0x75
  /// The sealed code of the upstream that a user has approved for a device.
  case deviceAnswer = 0x6f
}

extension StoreKind {
  /// The length of the values of a kind, in bytes.
  public enum Size: Hashable, Sendable {
    /// All values have this length. The entries are in a flat table without an allocation per entry.
    case fixed(Int)
    /// The values vary in length and have at most this length.
    case upTo(Int)
  }

  /// The treatment of a request that needs room in a full share.
  public enum WhenFull: Hashable, Sendable {
    /// The request gets 503, because losing an entry would permit a second use of a code or undo the end of a family.
    case refuse
    /// The oldest entry of the largest holder is removed. Its loss only makes a client or user repeat a step.
    case evict
  }

  /// The properties of a kind.
  public struct Properties: Sendable {
    /// The label in metrics and notices.
    public let name: String
    /// The length of the values.
    public let size: Size
    /// The share of the kind in percent of the store's size. The shares of all kinds add up to 100.
    public let percent: Int
    /// The number by which the share is divided to get the maximum for one holder. For a kind whose entries are never
    /// evicted, the maximum also falls with the free part of the share (`permits`).
    public let holderDivisor: Int
    /// The treatment of a request that needs room in a full share.
    public let whenFull: WhenFull
    /// The length of a slot of the expiry wheel. The 1,024 slots of the wheel cover the usual lifetime of an entry.
    let tick: Seconds

    /// Returns true if a limited holder may add an entry that will not be evicted: it has at most free² / (capacity ·
    /// divisor).
    ///
    /// The limit falls with the square of the free part of the share, so that holders cannot fill the share together. If n
    /// holders fill it one after the other, each up to its limit, 1 / (1 + n / divisor) stays free; if they fill it in
    /// turn, more does. A limit that fell only in proportion would leave e^(-n / divisor), which is nothing. A holder
    /// without an entry is always permitted.
    ///
    /// - Parameters:
    ///   - own: the bytes or entries that the holder already has.
    ///   - free: the bytes or entries for which there is room.
    ///   - capacity: the bytes or entries of the whole share.
    package func permits(own: Int, free: Int, capacity: Int) -> Bool {
      Double(own) * Double(holderDivisor) * Double(capacity) <= Double(free) * Double(free)
    }
  }

  /// The properties of this kind. The `switch` is the table of all kinds.
  ///
  /// Lifetimes: a claim lives as long as its code (`code_lifetime`), a code digest as long as the upstream code, a
  /// family as long as its tokens (`refresh_idle`), tokens as long as their code, an answer for `refresh_reuse_window` or a minute,
  /// a state as long as its transaction, a pushed request for 90 seconds, the entries of a device flow as long as its
  /// device code (`device_code_lifetime`), and the record of an access token as long as the upstream may accept the
  /// token. Some entries live longer by the tolerance for differences between clocks.
  public var properties: Properties {
    switch self {
    case .claim:
      Properties(
        name: "claim", size: .fixed(ClaimRecord.length), percent: 5, holderDivisor: 16, whenFull: .refuse, tick: 1)
    case .code:
      Properties(name: "code", size: .fixed(16), percent: 8, holderDivisor: 16, whenFull: .refuse, tick: 1)
    case .family:
      Properties(
        name: "family", size: .fixed(FamilyRecord.length), percent: 55, holderDivisor: 32, whenFull: .refuse,
        tick: 8_192)
    case .tokens:
      Properties(name: "tokens", size: .upTo(16_384), percent: 5, holderDivisor: 16, whenFull: .evict, tick: 1)
    case .answer:
      Properties(name: "answer", size: .upTo(16_384), percent: 4, holderDivisor: 16, whenFull: .evict, tick: 1)
    case .state:
      // The maximum length is low, because any program can send the requests that create these entries. A transaction has
      // about 250 bytes, and the `state` and `scope` of the app, which have up to 2,048 and 4,096. Long entries bring
      // their network to its limit earlier.
      Properties(name: "state", size: .upTo(4_096), percent: 6, holderDivisor: 16, whenFull: .evict, tick: 1)
    case .pushed:
      // `PushedRequests` accepts a request of this length only from a client that authenticates. The maximum length for
      // a public client is lower.
      Properties(name: "pushed", size: .upTo(16_384), percent: 5, holderDivisor: 16, whenFull: .evict, tick: 1)
    case .access:
      // A record with one client has at most 2,048 bytes. A token that several clients share has a longer one.
      Properties(name: "access", size: .upTo(8_192), percent: 6, holderDivisor: 16, whenFull: .refuse, tick: 64)
    case .device:
      // Any program can send the requests that create the entries of the next two kinds. `holderDivisor` limits the entries
      // of one client and network.
      Properties(name: "device", size: .upTo(1_024), percent: 3, holderDivisor: 16, whenFull: .evict, tick: 2)
    case .userCode:
      Properties(name: "user_code", size: .fixed(16), percent: 1, holderDivisor: 64, whenFull: .refuse, tick: 2)
    case .deviceAnswer:
      Properties(name: "device_answer", size: .upTo(16_384), percent: 2, holderDivisor: 16, whenFull: .evict, tick: 2)
    }
  }
}

extension StoreKind {
  /// The index of the kind in `allCases`.
  package var index: Int {
    switch self {
    case .claim: 0
    case .code: 1
    case .family: 2
    case .tokens: 3
    case .answer: 4
    case .state: 5
    case .pushed: 6
    case .access: 7
    case .device: 8
    case .userCode: 9
    case .deviceAnswer: 10
    }
  }
}
