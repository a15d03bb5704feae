/// The kinds of entries that a store keeps. The letters are part of keys in shared stores, so they never change.
public enum StoreKind: UInt8, Sendable, CaseIterable {
  /// The claim on a code's single use, and its outcome.
  case claim = 0x63
  /// The digest of an upstream code, with the transaction that brought it.
  case code = 0x78
  /// A family of refresh tokens.
  case family = 0x66
  /// The sealed tokens that the replay of a code has to revoke.
  case tokens = 0x74
  /// The sealed answer to a refresh, for a repeat of the request.
  case answer = 0x61
  /// A sealed state kept behind a short handle.
  case state = 0x68
  /// A pushed authorization request.
  case pushed = 0x70
}

extension StoreKind {
  /// The bytes of a value.
  public enum Size: Hashable, Sendable {
    /// Every value has this length. Such entries live in a flat table without an allocation each.
    case fixed(Int)
    case upTo(Int)
  }

  /// The request that needs room when there is none.
  public enum WhenFull: Hashable, Sendable {
    /// Gets 503: the loss of an entry would undo single use or the end of a family.
    case refuse
    /// Gets the room of the oldest entry of the holder that has most: the loss of an entry costs a repeated step.
    case evict
  }

  /// The limits of a kind.
  public struct Row: Sendable {
    /// The label in metrics and notices.
    public let name: String
    public let size: Size
    /// Percent of the store's size. The rows add up to 100.
    public let percent: Int
    /// One holder has at most the share divided by this.
    public let holders: Int
    public let whenFull: WhenFull
    /// Seconds between two looks at what has expired: the 1,024th part of the usual lifetime, or less.
    let tick: Int64
  }

  /// The one table of what each kind may take.
  ///
  /// Lifetimes: a claim lives as long as its code (`code_lifetime`), a code digest as long as the upstream's code, a
  /// family as long as its tokens (`refresh_idle`), tokens as long as their code, an answer for `refresh_reuse_window`, a
  /// state as long as its transaction, and a pushed request for 90 seconds.
  public var row: Row {
    switch self {
    case .claim:
      Row(name: "claim", size: .fixed(33), percent: 5, holders: 16, whenFull: .refuse, tick: 1)
    case .code:
      Row(name: "code", size: .fixed(16), percent: 8, holders: 16, whenFull: .refuse, tick: 1)
    case .family:
      Row(name: "family", size: .fixed(FamilyRecord.length), percent: 55, holders: 32, whenFull: .refuse, tick: 8_192)
    case .tokens:
      Row(name: "tokens", size: .upTo(16_384), percent: 5, holders: 16, whenFull: .evict, tick: 1)
    case .answer:
      Row(name: "answer", size: .upTo(16_384), percent: 7, holders: 16, whenFull: .evict, tick: 1)
    case .state:
      // Made by requests that prove nothing.
      Row(name: "state", size: .upTo(512), percent: 15, holders: 16, whenFull: .evict, tick: 1)
    case .pushed:
      // A client that authenticates may push more than one that does not; `PushedRequests` limits the latter.
      Row(name: "pushed", size: .upTo(16_384), percent: 5, holders: 16, whenFull: .evict, tick: 1)
    }
  }
}

extension StoreKind {
  /// The place of the kind among all.
  var place: Int {
    switch self {
    case .claim: 0
    case .code: 1
    case .family: 2
    case .tokens: 3
    case .answer: 4
    case .state: 5
    case .pushed: 6
    }
  }
}
