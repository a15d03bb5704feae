internal import Time

/// The stored value of a claim. The fields and their lengths in bytes are:
///
///     state 1 | nonce 16 | leaseEnd 4 | proof 16
///
/// `leaseEnd` is in seconds since 1970; 32 bits suffice until 2106.
struct ClaimRecord: Hashable {
  /// The state of a claim, as in the diagram of `RedemptionLedger`.
  enum State: UInt8 {
    /// A request holds the claim, at the latest until `leaseEnd`.
    case claimed = 1
    /// Tokens were issued for the code.
    case spent = 2
    /// A request was sent upstream, and no usable response came back. The same client may try again.
    case unsettled = 3
  }

  static let nonceLength = 16
  static let proofLength = 16
  private static let leaseEndStart = 1 + nonceLength
  private static let proofStart = leaseEndStart + 4
  static let length = proofStart + proofLength

  /// The stored value.
  private(set) var bytes: [UInt8]
  var state: State {
    didSet { bytes[0] = state.rawValue }
  }

  /// Creates the record of a new claim.
  ///
  /// - Parameters:
  ///   - claimant: the id of the process that holds the claim. The nonce begins with this id.
  ///   - requestNonce: the rest of the nonce, which is random for each request.
  ///   - leaseEnd: the time at which the claim ends by itself.
  ///   - proof: the first ``proofLength`` bytes of a digest of client, verifier and code. A retry must have the same
  ///     proof.
  init(state: State, claimant: ClaimantID, requestNonce: [UInt8], leaseEnd: UnixTime, proof: [UInt8]) {
    self.state = state
    bytes = []
    bytes.reserveCapacity(ClaimRecord.length)
    bytes.append(state.rawValue)
    claimant.append(to: &bytes)
    bytes += requestNonce
    let seconds = UInt32(clamping: leaseEnd.seconds)
    for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: seconds >> shift)) }
    bytes += proof
  }

  /// Parses a stored value; `nil` for bytes that no version of the gateway has written.
  init?(parsing bytes: [UInt8]) {
    guard bytes.count == ClaimRecord.length, let state = State(rawValue: bytes[0]) else { return nil }
    self.state = state
    self.bytes = bytes
  }

  /// The time at which the claim ends by itself.
  var leaseEnd: UnixTime {
    UnixTime(seconds: bytes[ClaimRecord.leaseEndStart..<ClaimRecord.proofStart].reduce(0) { $0 << 8 | Int64($1) })
  }

  /// The process that holds the claim.
  var claimant: ClaimantID { ClaimantID(of: bytes[1..<ClaimRecord.leaseEndStart]) }

  /// The proof that a retry must match.
  var proof: ArraySlice<UInt8> { bytes[ClaimRecord.proofStart...] }
}
