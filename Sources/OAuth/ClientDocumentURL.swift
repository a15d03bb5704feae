internal import ByteText

/// The URL of a client ID metadata document. The URL is the `client_id` of the client that the document describes
/// (draft-ietf-oauth-client-id-metadata-document, section 3).
///
/// The draft requires `https`, a path, and no dot segments, fragment or user information. This type also refuses a
/// query, and all forms that two parsers could read differently: a document has exactly one accepted spelling.
public struct ClientDocumentURL: Hashable, Sendable {
  /// The maximum length in bytes. Sealed values contain the URL, and upstream requests contain these values.
  public static let maximumLength = 512

  /// The URL as sent. Ids are compared byte for byte.
  public let text: String
  /// The host name, in lower case.
  public let host: String
  /// The TCP port, from 1 to 65535.
  public let port: Int
  /// The path, which begins with a slash.
  public let path: String

  /// The host, with the port unless it is 443.
  public var authority: String { port == 443 ? host : "\(host):\(port)" }

  /// Returns true if the text can only be meant as the URL of a document, so that a malformed one gets a specific
  /// refusal.
  public static func resembles(_ text: String) -> Bool { text.utf8.starts(with: "https://".utf8) }

  /// Returns true if some parser reads the host as an IP address: it has brackets, or its last label is a number (WHATWG
  /// URL Standard, section 3.5).
  public static func isAddress(_ host: String) -> Bool {
    guard !host.hasPrefix("["), let last = host.utf8.split(separator: UInt8(ascii: ".")).last else { return true }
    return last.allSatisfy(\.isDigit) || last.starts(with: "0x".utf8) || last.starts(with: "0X".utf8)
  }

  /// Parses a URL; `nil` if it is not acceptable.
  public init?(parsing text: String) {
    guard ClientDocumentURL.resembles(text), text.utf8.count <= ClientDocumentURL.maximumLength,
      !text.utf8.span.contains(UInt8(ascii: "?")),
      let uri = try? RedirectURI(parsing: text), case .https(let host) = uri.kind, uri.path.hasPrefix("/")
    else { return nil }
    // An upper-case letter would be a second spelling of the same document.
    guard !host.utf8.contains(where: \.isUppercaseLetter), !ClientDocumentURL.isAddress(host) else { return nil }
    let authority = text.utf8.dropFirst("https://".utf8.count).prefix { $0 != UInt8(ascii: "/") }
    let digits = authority.dropFirst(host.utf8.count).dropFirst()
    // The default port has one spelling: none.
    guard digits.isEmpty || !digits.elementsEqual("443".utf8), ClientDocumentURL.isCanonical(uri.path) else {
      return nil
    }
    self.text = text
    self.host = host
    port = digits.isEmpty ? 443 : digits.reduce(0) { $0 * 10 + Int($1 &- UInt8(ascii: "0")) }
    path = String(uri.path)
  }

  /// Returns true if a server cannot take another spelling of the path for the same one: the path has no empty segment,
  /// and escapes (RFC 3986, section 6.2.2) only where they are needed, in upper case.
  private static func isCanonical(_ path: Substring) -> Bool {
    let bytes = Array(path.utf8)
    for index in bytes.indices {
      switch bytes[index] {
      case UInt8(ascii: "/"): if index > 0, bytes[index - 1] == UInt8(ascii: "/") { return false }
      case UInt8(ascii: "%"):
        guard index + 2 < bytes.count, !bytes[index + 1...index + 2].contains(where: \.isLowercaseLetter),
          let byte = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16)
        else { return false }
        if byte.isLetter || byte.isDigit || "-._~".utf8.contains(byte) { return false }
      default: break
      }
    }
    return bytes.split(separator: UInt8(ascii: "/")).allSatisfy(isName)
  }

  /// Returns true if no server can take the segment for a dot segment: it has more than dots, spaces and characters that
  /// look like them. Some file systems ignore spaces at the end of a name, or read a full-width dot as a dot.
  private static func isName(_ segment: ArraySlice<UInt8>) -> Bool {
    guard let text = FormEncoding.decode(Array(segment).span) else { return false }
    return text.unicodeScalars.contains { scalar in
      scalar.isASCII
        ? scalar != "." && scalar != " "
        : scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }
  }
}
