internal import ByteText
import HTTP
import HTTP1
import Reactor

/// The client of a connection, and the fields that describe it to the upstream: `Forwarded` (RFC 7239) and
/// `X-Forwarded-*`.
///
/// A class, because copying a struct would retain each of its strings per request.
final class ClientIdentity {
  private let peerHost: String
  private let isLoopback: Bool
  /// True for a trusted proxy. Its statements about its clients are forwarded to the upstream.
  let isTrusted: Bool
  /// The beginning of the forwarding fields of every request, from `X-Forwarded-For` to the `proto` parameter of
  /// `Forwarded`. Not used for a trusted proxy, whose requests come from different clients.
  private let commonPrefix: [UInt8]

  /// - Parameter isFromProxyProtocol: true if a proxy supplied the address in the PROXY protocol. Then the client is
  ///   not on this machine, even if the address is a loopback address.
  init(_ peer: Address, isTrusted: Bool, isSecure: Bool = false, isFromProxyProtocol: Bool = false) {
    peerHost = peer.host
    isLoopback = peer.isLoopback && !isFromProxyProtocol
    self.isTrusted = isTrusted
    self.isSecure = isSecure
    isHTTP2 = false
    var prefix: [UInt8] = []
    ClientIdentity.appendPrefix(address: peer.host, chain: peer.host, isSecure: isSecure, to: &prefix)
    commonPrefix = prefix
  }

  /// True if the connection of the client uses TLS, up to the gateway or to the sender of a PROXY protocol header.
  private let isSecure: Bool
  /// True if the requests of the client arrive as streams of an HTTP/2 connection.
  let isHTTP2: Bool

  /// The same client, on an HTTP/2 connection.
  var overHTTP2: ClientIdentity { ClientIdentity(self, isHTTP2: true) }

  private init(_ other: ClientIdentity, isHTTP2: Bool) {
    peerHost = other.peerHost
    isLoopback = other.isLoopback
    isTrusted = other.isTrusted
    isSecure = other.isSecure
    commonPrefix = other.commonPrefix
    self.isHTTP2 = isHTTP2
  }

  private static func appendPrefix(address: String, chain: String, isSecure: Bool, to lines: inout [UInt8]) {
    let scheme = isSecure ? "https" : "http"
    let isIPv6 = address.utf8.span.contains(UInt8(ascii: ":"))
    // The names and marks have at most 76 bytes.
    lines.append(addingCapacity: chain.utf8.count + address.utf8.count + 96) { output in
      output.append("X-Forwarded-For: ")
      output.append(chain)
      output.append("\r\nX-Forwarded-Proto: ")
      output.append(scheme)
      output.append(isIPv6 ? "\r\nForwarded: for=\"[" : "\r\nForwarded: for=")
      output.append(address)
      output.append(isIPv6 ? "]\";proto=" : ";proto=")
      output.append(scheme)
    }
  }

  /// The client of one request: the one that the forwarding fields of a trusted proxy describe, or else the peer of the
  /// connection.
  struct EffectiveClient {
    var address: String
    var isSecure: Bool
    /// The host in the `X-Forwarded-Host` of a trusted proxy, if any.
    var host: String?
    /// The value of `X-Forwarded-For`: the last address that a trusted proxy listed, if any, and the address of the
    /// peer.
    var chain: String
  }

  /// Returns the facts about the client of one request, whose head is `bytes`.
  func facts(_ bytes: Span<UInt8>, _ fields: HeadIndex, requestNumber: UInt64) -> ClientFacts {
    guard isTrusted else {
      return ClientFacts(
        peer: Peer(address: peerHost, isSecure: isSecure, isLoopback: isLoopback), forwardedHost: nil,
        reference: RequestReference(number: requestNumber))
    }
    let client = effectiveClient(bytes, fields)
    return ClientFacts(
      // The client of a proxy is on another machine, and only the proxy knows whether the client uses TLS.
      peer: Peer(address: client.address, isSecure: client.isSecure, isLoopback: false),
      forwardedHost: client.host,
      reference: RequestReference(number: requestNumber, proxyID: requestID(bytes, fields)))
  }

  /// Returns the id that the proxy gave to the request; `nil` if the field is missing, repeated or malformed.
  private func requestID(_ bytes: Span<UInt8>, _ fields: HeadIndex) -> String? {
    guard let range = fields.onlyValue(of: .requestID), RequestReference.isID(bytes.extracting(range)) else {
      return nil
    }
    return text(bytes, range)
  }

  private func effectiveClient(_ bytes: Span<UInt8>, _ fields: HeadIndex) -> EffectiveClient {
    var client = EffectiveClient(address: peerHost, isSecure: isSecure, host: nil, chain: peerHost)
    // Only the nearest proxy is trusted, so only the last element of each list counts. The last address may be in a
    // second `X-Forwarded-For`, which the proxy added after the client's field, as HAProxy does. An `X-Forwarded-Proto`
    // or `X-Forwarded-Host` that occurs more than once is ignored.
    if let list = fields.lastValue(of: .forwardedFor) {
      let last = ClientIdentity.lastElement(of: list, bytes)
      if let address = Address(literal: last, port: 0) {
        client.address = address.host
        client.chain = "\(last), \(peerHost)"
      }
    }
    if let proto = fields.onlyValue(of: .forwardedProto) {
      client.isSecure = ClientIdentity.lastElement(of: proto, bytes).isEqualIgnoringCase(to: "https")
    }
    if let host = fields.onlyValue(of: .forwardedHost) {
      client.host = ClientIdentity.lastElement(of: host, bytes)
    }
    return client
  }

  /// Returns the last element of a list that is not empty; an empty text if it is longer than each address, scheme and
  /// host.
  private static func lastElement(of list: Range<Int>, _ bytes: Span<UInt8>) -> String {
    var end = list.upperBound
    while end > list.lowerBound, bytes[end - 1] == UInt8(ascii: ",") { end -= 1 }
    // Search bytes, not characters: a client that ends its list with a combining character would hide the proxy's comma.
    var start = end
    while start > list.lowerBound, bytes[start - 1] != UInt8(ascii: ",") { start -= 1 }
    let element = bytes.trimmed(start..<end)
    guard element.count <= maximumElementLength else { return "" }
    return String(decoding: [UInt8](copying: bytes.extracting(element)), as: UTF8.self).asciiReading
  }

  /// The length of the longest host name, and a port.
  private static let maximumElementLength = 255 + 6

  private func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: range.map { bytes[$0] }, as: UTF8.self)
  }

  /// Appends the forwarding fields for a request that the gateway forwards for the client.
  func appendFields(to buffer: Buffer, _ bytes: Span<UInt8>, _ head: RequestHead, _ fields: HeadIndex) {
    if !isTrusted {
      buffer.append(commonPrefix)
      if let host = head.host {
        buffer.append(";host=\"")
        buffer.append(bytes, in: host)
        buffer.append("\"\r\nX-Forwarded-Host: ")
        buffer.append(bytes, in: host)
      }
      buffer.append("\r\n")
      return
    }
    let client = effectiveClient(bytes, fields)
    let host = client.host.flatMap { ClientIdentity.isHost($0) ? $0 : nil } ?? head.host.map { text(bytes, $0) }
    var lines: [UInt8] = []
    ClientIdentity.append(client, host: host, to: &lines)
    buffer.append(lines)
  }

  /// Appends the forwarding fields for a request that the gateway itself makes.
  static func append(_ peer: Peer, host: String, to lines: inout [UInt8]) {
    append(
      EffectiveClient(address: peer.address, isSecure: peer.isSecure, host: nil, chain: peer.address), host: host,
      to: &lines)
  }

  private static func append(_ client: EffectiveClient, host: String?, to lines: inout [UInt8]) {
    appendPrefix(address: client.address, chain: client.chain, isSecure: client.isSecure, to: &lines)
    if let host {
      lines.append(";host=\"")
      lines.append(host)
      lines.append("\"\r\nX-Forwarded-Host: ")
      lines.append(host)
    }
    lines.append("\r\n")
  }

  /// True if the text has at most 261 bytes, and each is a letter, a digit or one of `-.:[]`. These characters are safe
  /// in a quoted string and in a `Host` field.
  private static func isHost(_ text: String) -> Bool {
    text.utf8.count <= 261
      && text.utf8.allSatisfy {
        $0.isLetterOrDigit || $0 == 0x2d || $0 == 0x2e || $0 == 0x3a || $0 == 0x5b
          || $0 == 0x5d
      }
  }
}
