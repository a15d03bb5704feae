internal import Time

/// The stored value of a family of refresh tokens: 70 bytes. It contains no token, but the first 128 bits of digests of
/// tokens. The fields and their lengths in bytes are:
///
///     state 1 | repeats 1 | generation 4 | leaseEnd 4 | previousFirstUse 4 | previousNetwork 8
///     token 16 | previous 16 | nonce 16
///
/// Times are in seconds since 1970; 32 bits suffice until 2106.
struct FamilyRecord: Equatable, Sendable {
  /// The state of a family, as in the diagram of `RefreshLedger`.
  enum State: UInt8 {
    /// No request is refreshing the family. `token` is valid.
    case current = 1
    /// A request has claimed the family and refreshes it.
    case busy = 2
    /// No token of the family is valid any more.
    case ended = 3
  }

  static let digestLength = 16
  static let length = 1 + 1 + 4 + 4 + 4 + 8 + 3 * digestLength
  /// The value in place of a digest that does not exist: all zeros, which in practice is not the digest of any token.
  static let none = [UInt8](repeating: 0, count: digestLength)
  /// The bit for `isAdopted` in the byte of `repeats`.
  private static let adoptedBit: UInt8 = 0x80

  var state: State
  /// True if the family began with a token that the upstream issued before the gateway was installed. The id of the
  /// family is then derived from the digest of that token.
  var isAdopted = false
  /// The number of times that the response to the last refresh was repeated.
  var repeats: UInt8 = 0
  /// The generation of `token`. In an ended family: the tokens of all lower generations have been revoked upstream, or
  /// are being revoked.
  var generation: UInt32 = 0
  /// The time at which the claim on a busy family ends by itself.
  var leaseEnd: UnixTime = 0
  /// The time of the first use of `previous`.
  var previousFirstUse: UnixTime = 0
  /// The network of the first use of `previous`.
  var previousNetwork: UInt64 = 0
  /// The digest of the valid token.
  var token = FamilyRecord.none
  /// The digest of the token that was exchanged for `token`.
  var previous = FamilyRecord.none
  /// The nonce of the claim on a busy family: the id of the process that holds the claim, followed by bytes that are
  /// random for each request.
  var nonce = FamilyRecord.none

  init(state: State) {
    self.state = state
  }

  /// Parses a stored value; `nil` for bytes that no version of the gateway has written.
  init?(parsing bytes: [UInt8]) {
    guard bytes.count == FamilyRecord.length, let state = State(rawValue: bytes[0]) else { return nil }
    self.state = state
    isAdopted = bytes[1] & FamilyRecord.adoptedBit != 0
    repeats = bytes[1] & ~FamilyRecord.adoptedBit
    generation = UInt32(truncatingIfNeeded: FamilyRecord.number(bytes[2..<6]))
    leaseEnd = UnixTime(seconds: Int64(clamping: FamilyRecord.number(bytes[6..<10])))
    previousFirstUse = UnixTime(seconds: Int64(clamping: FamilyRecord.number(bytes[10..<14])))
    previousNetwork = FamilyRecord.number(bytes[14..<22])
    token = Array(bytes[22..<38])
    previous = Array(bytes[38..<54])
    nonce = Array(bytes[54..<70])
  }

  var bytes: [UInt8] {
    var bytes = [state.rawValue, repeats | (isAdopted ? FamilyRecord.adoptedBit : 0)]
    bytes.reserveCapacity(FamilyRecord.length)
    for (number, count) in [
      (UInt64(generation), 4), (FamilyRecord.number(leaseEnd), 4), (FamilyRecord.number(previousFirstUse), 4),
      (previousNetwork, 8),
    ] {
      for index in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }
    return bytes + token + previous + nonce
  }

  /// The process that holds the claim on a busy family.
  var claimant: ClaimantID { ClaimantID(of: nonce) }

  private static func number(_ time: UnixTime) -> UInt64 { UInt64(UInt32(clamping: time.seconds)) }
  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
