internal import ByteText

/// HTTP Basic credentials as OAuth uses them. User and password are form-encoded before the base64 encoding (RFC 6749,
/// section 2.3.1), so that both may contain a colon.
public struct BasicCredentials: Sendable {
  private static let scheme = "Basic "

  /// The user, decoded. It is a client id.
  public let user: String
  /// The password, decoded. It is a client secret. A password that cannot be form-decoded is here as it is.
  public let password: Secret
  /// The password without form decoding, as clients send it that follow RFC 2617; `nil` if it is the same as `password`, or
  /// if the user differs without form decoding.
  public let rawPassword: Secret?

  /// Creates credentials from decoded values.
  public init(user: String, password: Secret) {
    self.init(user: user, password: password, rawPassword: nil)
  }

  private init(user: String, password: Secret, rawPassword: Secret?) {
    self.user = user
    self.password = password
    self.rawPassword = rawPassword
  }

  /// Parses the value of an `Authorization` field.
  ///
  /// Many clients do not form-encode the pair. Their secret is read, too, if the client id is the same in both readings.
  ///
  /// - Throws: `ClientAuthenticationError.malformedHeader` if the scheme is not Basic, the value cannot be decoded, the
  ///   user is empty, or the user or password contains a control character.
  public init(parsing header: String) throws(ClientAuthenticationError) {
    let parts = header.utf8.split(separator: .space, maxSplits: 1)
    guard parts.count == 2, BasicCredentials.isScheme(parts[0]), let bytes = Base64.decode(parts[1].span),
      let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      let user = FormEncoding.decode(bytes.span.extracting(0..<colon)), !user.isEmpty, ClientID.isComparable(user),
      !user.utf8.contains(where: \.isControl)
    else { throw .malformedHeader }
    let text = bytes.span.extracting((colon + 1)...)
    let decoded = FormEncoding.decode(text).flatMap { $0.utf8.contains(where: \.isControl) ? nil : $0 }
    let isSameUser = bytes.span.extracting(0..<colon).isEqual(to: user.utf8.span)
    let raw = isSameUser && !text.hasControl ? String(validating: text) : nil
    guard let password = decoded ?? raw else { throw .malformedHeader }
    self.init(user: user, password: Secret(password), rawPassword: raw == password ? nil : raw.map { Secret($0) })
  }

  /// Returns true if the first word of an `Authorization` value is the scheme Basic. Values are divided as bytes, because a
  /// space and a following combining character are one `Character`, and each `Character` costs some hundred instructions.
  static func isScheme(_ word: Substring.UTF8View) -> Bool {
    word.elementsEqual("basic".utf8, by: { $0.lowercasedASCII == $1 })
  }

  /// The credentials as the value of an `Authorization` field, without form encoding, for a server that does not decode
  /// them. The user must not contain a colon (RFC 7617, section 2).
  public var rawHeader: Secret {
    Secret(BasicCredentials.scheme + Base64.encode(Array("\(user):\(password.reveal())".utf8)))
  }

  /// The credentials as the value of an `Authorization` field.
  public var header: Secret {
    var pair: [UInt8] = []
    pair.reserveCapacity(user.utf8.count + password.reveal().utf8.count + 1)
    FormEncoding.append(user, to: &pair)
    pair.append(UInt8(ascii: ":"))
    FormEncoding.append(password.reveal(), to: &pair)
    return Secret(Base64.encode(pair, after: BasicCredentials.scheme))
  }

  /// Returns the base64 text of `header`, an `Authorization` value that ``header`` or ``rawHeader`` returned. The
  /// scheme is removed.
  public static func encodedPair(of header: Secret) -> Secret {
    Secret(String(Substring(header.reveal().utf8.dropFirst(scheme.utf8.count))))
  }
}
