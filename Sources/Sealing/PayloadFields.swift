internal import Cryptography
internal import OAuth

// The payload encodings of OAuth values.

extension PayloadWriter {
  /// Appends a challenge. An S256 digest is stored as its 32 bytes, 11 bytes shorter than its text.
  mutating func challenge(_ challenge: CodeChallenge?) {
    guard let challenge else { return byte(0) }
    switch challenge.method {
    case .plain:
      byte(1)
      text(challenge.text)
    case .s256:
      // Decoding is canonical, so the reader gets the same text when it encodes the digest again.
      if let digest = Base64URL.decode(challenge.text), digest.count == 32 {
        byte(2)
        fixed(digest)
      } else {
        byte(3)
        text(challenge.text)
      }
    }
  }

  mutating func responseMode(_ mode: ResponseMode) {
    switch mode {
    case .query: byte(0)
    case .fragment: byte(1)
    case .formPost: byte(2)
    }
  }

  mutating func seconds(_ value: Int64) {
    number(UInt64(bitPattern: value))
  }
}

extension PayloadReader {
  mutating func challenge() throws(PayloadError) -> CodeChallenge? {
    switch try byte() {
    case 0: return nil
    case 1: return CodeChallenge(text: try text(), method: .plain)
    case 2: return CodeChallenge(text: Base64URL.encode(try fixed(32)), method: .s256)
    case 3: return CodeChallenge(text: try text(), method: .s256)
    default: throw PayloadError()
    }
  }

  mutating func responseMode() throws(PayloadError) -> ResponseMode {
    switch try byte() {
    case 0: return .query
    case 1: return .fragment
    case 2: return .formPost
    default: throw PayloadError()
    }
  }

  mutating func seconds() throws(PayloadError) -> Int64 {
    Int64(bitPattern: try number())
  }

  mutating func transactionID() throws(PayloadError) -> TransactionID {
    guard let id = TransactionID(bytes: try fixed(TransactionID.byteCount)) else { throw PayloadError() }
    return id
  }

  mutating func upstreamVerifier() throws(PayloadError) -> UpstreamVerifier {
    guard let verifier = UpstreamVerifier(bytes: try fixed(UpstreamVerifier.byteCount)) else { throw PayloadError() }
    return verifier
  }

  /// Reads a redirect URI. It is parsed again, because a value that was sealed under older rules must satisfy the
  /// current ones.
  mutating func redirectURI() throws(PayloadError) -> RedirectURI {
    guard let uri = try? RedirectURI(parsing: try text()) else { throw PayloadError() }
    return uri
  }

  mutating func scope() throws(PayloadError) -> Scope {
    guard let scope = Scope(parsing: try text()) else { throw PayloadError() }
    return scope
  }

  /// Reads a byte of flags. Throws for a bit that is not in `all`.
  mutating func flags<Flags: OptionSet>(_ all: Flags) throws(PayloadError) -> Flags where Flags.RawValue == UInt8 {
    let bits = try byte()
    guard bits & ~all.rawValue == 0 else { throw PayloadError() }
    return Flags(rawValue: bits)
  }

  /// Reads the layout number. Throws unless it is `expected`.
  mutating func layout(_ expected: UInt8) throws(PayloadError) {
    guard try byte() == expected else { throw PayloadError() }
  }
}
