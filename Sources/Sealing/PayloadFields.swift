internal import ByteText
internal import OAuth
internal import Time

// The encodings of OAuth values in a payload.

/// The bit that is set in the byte of the response mode if the client sent a `state`. The payload then contains that
/// `state`.
private let stateBit: UInt8 = 4
/// The bit that is set in the byte of the response mode if a device waits for the result.
private let deviceBit: UInt8 = 8
/// The bit that is set in the byte of the response mode if the id of an address of the upstream follows.
private let addressBit: UInt8 = 16
/// The bit that is set in the byte of the response mode if the request has further parameters.
private let furtherParametersBit: UInt8 = 32

extension PayloadWriter {
  /// Appends a byte for the form of the challenge, and then the challenge. The forms are: 0 for no challenge, 1 for the
  /// text of a plain challenge, 2 for the digest (32 bytes) of an S256 challenge, and 3 for the text of an S256
  /// challenge that cannot be decoded to such a digest. The digest is 11 bytes shorter than its text.
  mutating func writeChallenge(_ challenge: CodeChallenge?) {
    guard let challenge else { return writeByte(0) }
    switch challenge.method {
    case .plain:
      writeByte(1)
      writeText(challenge.text)
    case .s256:
      // `Base64URL` decodes only canonical text, so the reader restores the same text when it encodes the digest.
      if let digest = Base64URL.decode(challenge.text), digest.count == 32 {
        writeByte(2)
        writeBytes(withoutLength: digest)
      } else {
        writeByte(3)
        writeText(challenge.text)
      }
    }
  }

  mutating func writeResponseMode(
    _ mode: ResponseMode, hasState: Bool, isDeviceFlow: Bool, hasFurtherParameters: Bool, address: UInt16?
  ) {
    let value: UInt8 =
      switch mode {
      case .query: 0
      case .fragment: 1
      case .formPost: 2
      }
    writeByte(
      value | (hasState ? stateBit : 0) | (isDeviceFlow ? deviceBit : 0)
        | (hasFurtherParameters ? furtherParametersBit : 0) | (address == nil ? 0 : addressBit))
    if let address { writeAddress(address) }
  }

  /// Appends the id of an address of the upstream.
  mutating func writeAddress(_ id: UInt16) { writeNumber(UInt64(id)) }

  mutating func writeTime(_ time: UnixTime) {
    writeNumber(UInt64(bitPattern: time.seconds))
  }
}

extension PayloadReader {
  mutating func readChallenge() throws(PayloadError) -> CodeChallenge? {
    switch try readByte() {
    case 0: return nil
    case 1: return CodeChallenge(text: try readText(), method: .plain)
    case 2: return CodeChallenge(text: Base64URL.encode(try readBytes(count: 32)), method: .s256)
    case 3: return CodeChallenge(text: try readText(), method: .s256)
    default: throw PayloadError()
    }
  }

  /// The byte of the response mode, and the id of an address of the upstream, if it has one.
  struct ModeFields {
    let mode: ResponseMode
    let hasState: Bool
    let isDeviceFlow: Bool
    let hasFurtherParameters: Bool
    let address: UInt16?
  }

  mutating func readResponseMode() throws(PayloadError) -> ModeFields {
    let byte = try readByte()
    let mode: ResponseMode
    switch byte & ~(stateBit | deviceBit | addressBit | furtherParametersBit) {
    case 0: mode = .query
    case 1: mode = .fragment
    case 2: mode = .formPost
    default: throw PayloadError()
    }
    let address = byte & addressBit == 0 ? nil : try readAddress()
    return ModeFields(
      mode: mode, hasState: byte & stateBit != 0, isDeviceFlow: byte & deviceBit != 0,
      hasFurtherParameters: byte & furtherParametersBit != 0, address: address)
  }

  mutating func readAddress() throws(PayloadError) -> UInt16 {
    guard let id = UInt16(exactly: try readNumber()) else { throw PayloadError() }
    return id
  }

  mutating func readTime() throws(PayloadError) -> UnixTime {
    UnixTime(seconds: Int64(bitPattern: try readNumber()))
  }

  mutating func readTransactionID() throws(PayloadError) -> TransactionID {
    guard let id = TransactionID(bytes: try readBytes(count: TransactionID.byteCount)) else { throw PayloadError() }
    return id
  }

  mutating func readUpstreamVerifier() throws(PayloadError) -> UpstreamVerifier {
    guard let verifier = UpstreamVerifier(bytes: try readBytes(count: UpstreamVerifier.byteCount)) else {
      throw PayloadError()
    }
    return verifier
  }

  /// Reads and parses a redirect URI. Throws if the URI does not satisfy the current rules: an earlier version of the
  /// gateway may have sealed it under other rules.
  mutating func readRedirectURI() throws(PayloadError) -> RedirectURI {
    guard let uri = try? RedirectURI(parsing: try readText()) else { throw PayloadError() }
    return uri
  }

  mutating func readScope() throws(PayloadError) -> Scope {
    guard let scope = Scope(parsing: try readText()) else { throw PayloadError() }
    return scope
  }

  /// Reads a byte of flags. Throws if a bit is set that is not in `allowed`.
  mutating func readFlags<Flags: OptionSet>(
    allowed: Flags
  ) throws(PayloadError) -> Flags where Flags.RawValue == UInt8 {
    let bits = try readByte()
    guard bits & ~allowed.rawValue == 0 else { throw PayloadError() }
    return Flags(rawValue: bits)
  }

  /// Reads the format version. Throws if it is not `expected`.
  mutating func checkFormatVersion(_ expected: UInt8) throws(PayloadError) {
    guard try readByte() == expected else { throw PayloadError() }
  }
}
