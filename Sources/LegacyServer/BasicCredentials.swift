import FoundationEssentials

/// The client id and secret of an `Authorization: Basic` field (RFC 7617), decoded from the form encoding that clients
/// apply to both (RFC 6749, section 2.3.1).
struct BasicCredentials {
  let id: String
  let secret: String

  /// Parses the value of an `Authorization` field; `nil` for any other scheme and for malformed credentials.
  init?(field: String) {
    let parts = field.split(separator: " ", omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "basic", let data = Data(base64Encoded: String(parts[1])) else {
      return nil
    }
    let pair = Array(data).split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    guard pair.count == 2 else { return nil }
    id = Form.decoded(pair[0])
    secret = Form.decoded(pair[1])
  }
}
