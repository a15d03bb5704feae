internal import ByteText
import Reactor

/// Parses the header of the PROXY protocol, versions 1 and 2 (haproxy.org, "The PROXY protocol"), from the first bytes
/// of a connection. The parser is strict, because the header determines the client's address.
enum ProxyHeader {
  /// The client described by the header.
  struct Client: Equatable {
    let address: Address
    /// True if the client's connection to the proxy uses TLS, according to the TLV of type `PP2_TYPE_SSL`.
    let isSecure: Bool
  }

  enum Outcome: Equatable {
    case incomplete
    /// `client` is `nil` if the proxy connects for itself, or for a client without an IP address. Then the proxy itself
    /// is treated as the client.
    case complete(length: Int, client: Client?)
    case malformed
  }

  /// The maximum length of a line of version 1, including its end.
  private static let lineLimit = 107
  /// The maximum length of the part of a version 2 header that follows the fixed 16 bytes. Addresses take up to 36
  /// bytes. The rest is for fields such as the names of a client certificate.
  private static let blockLimit = 4_096
  private static let binarySignature: [UInt8] = [
    0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a,
  ]
  private static let lineSignature: [UInt8] = Array("PROXY ".utf8)

  static func parse(_ bytes: Span<UInt8>) -> Outcome {
    guard bytes.count > 0 else { return .incomplete }
    let isBinary = bytes[0] == binarySignature[0]
    let expected = isBinary ? binarySignature : lineSignature
    for index in 0..<min(bytes.count, expected.count) where bytes[index] != expected[index] { return .malformed }
    guard bytes.count >= expected.count else { return .incomplete }
    return isBinary ? parseBinary(bytes) : parseLine(bytes)
  }

  // MARK: Version 1

  private static func parseLine(_ bytes: Span<UInt8>) -> Outcome {
    var end = lineSignature.count
    while end < bytes.count, bytes[end] != 0x0d {
      guard end < lineLimit - 2, bytes[end] >= 0x20, bytes[end] < 0x7f else { return .malformed }
      end += 1
    }
    guard end <= lineLimit - 2 else { return .malformed }
    guard end + 1 < bytes.count else { return .incomplete }
    guard bytes[end + 1] == 0x0a else { return .malformed }
    let line = String(decoding: (lineSignature.count..<end).map { bytes[$0] }, as: UTF8.self)
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    // The specification requires that the rest of the line is ignored.
    if words.first == "UNKNOWN" { return .complete(length: end + 2, client: nil) }
    guard words.count == 5, words[0] == "TCP4" || words[0] == "TCP6", let source = port(words[3]),
      port(words[4]) != nil, let client = Address(literal: String(words[1]), port: source),
      let server = Address(literal: String(words[2]), port: 0),
      client.isIPv6 == (words[0] == "TCP6"), server.isIPv6 == client.isIPv6
    else { return .malformed }
    return .complete(length: end + 2, client: Client(address: client, isSecure: false))
  }

  /// Parses a port: a decimal number up to 65,535 without leading zeros.
  private static func port(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.count <= 5, text.utf8.allSatisfy(\.isDigit), text == "0" || text.first != "0",
      let number = Int(text), number <= 65_535
    else { return nil }
    return number
  }

  // MARK: Version 2

  private static let fixedLength = 16

  private static func parseBinary(_ bytes: Span<UInt8>) -> Outcome {
    guard bytes.count >= fixedLength else { return .incomplete }
    let version = bytes[12] >> 4
    let command = bytes[12] & 0xf
    let family = bytes[13] >> 4
    let transport = bytes[13] & 0xf
    let blockLength = Int(bytes[14]) << 8 | Int(bytes[15])
    guard version == 2, command <= 1, family <= 3, transport <= 2, blockLength <= blockLimit else { return .malformed }
    let length = fixedLength + blockLength
    guard bytes.count >= length else { return .incomplete }
    // LOCAL: a health check by the proxy itself; the rest must be ignored.
    guard command == 1 else { return .complete(length: length, client: nil) }
    let addressLength: Int
    switch family {
    case 1: addressLength = 4
    case 2: addressLength = 16
    // An unspecified family, or Unix sockets, whose names have no meaning here.
    default: return .complete(length: length, client: nil)
    }
    // The block begins with two addresses and two ports. A datagram cannot be a connection.
    let fieldsStart = fixedLength + 2 * addressLength + 4
    guard transport == 1, fieldsStart <= length else { return .malformed }
    let source = (fixedLength..<fixedLength + addressLength).map { bytes[$0] }
    let port = Int(bytes[fieldsStart - 4]) << 8 | Int(bytes[fieldsStart - 3])
    guard let address = Address(bytes: source, port: port), let isSecure = usesTLS(bytes, fieldsStart..<length) else {
      return .malformed
    }
    return .complete(length: length, client: Client(address: address, isSecure: isSecure))
  }

  private static let typeTLS: UInt8 = 0x20
  private static let connectedOverTLS: UInt8 = 0x01

  /// Reads the type-length-value fields (TLVs) in `range`. Returns true if the last field of type `PP2_TYPE_SSL` says
  /// that the client's connection uses TLS. Returns false if it says otherwise, or without such a field. Returns `nil`
  /// if the fields are malformed.
  private static func usesTLS(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool? {
    var isSecure = false
    var position = range.lowerBound
    while position < range.upperBound {
      guard position + 3 <= range.upperBound else { return nil }
      let length = Int(bytes[position + 1]) << 8 | Int(bytes[position + 2])
      let value = position + 3
      guard value + length <= range.upperBound else { return nil }
      if bytes[position] == typeTLS {
        guard length >= 5 else { return nil }
        isSecure = bytes[value] & connectedOverTLS != 0
      }
      position = value + length
    }
    return isSecure
  }
}
