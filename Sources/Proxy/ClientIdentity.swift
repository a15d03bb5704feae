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
  /// Returns true for a trusted proxy.
  private let trusts: @Sendable (Address) -> Bool
  /// The beginning of the forwarding fields of every request, from `X-Forwarded-For` to the `proto` parameter of
  /// `Forwarded`. Not used for a trusted proxy, whose requests come from different clients.
  private let commonPrefix: [UInt8]

  /// - Parameter isFromProxyProtocol: true if a proxy supplied the address in the PROXY protocol. Then the client is
  ///   not on this machine, even if the address is a loopback address.
  init(
    _ peer: Address, trusts: @escaping @Sendable (Address) -> Bool, isSecure: Bool = false,
    isFromProxyProtocol: Bool = false
  ) {
    peerHost = peer.host
    isLoopback = peer.isLoopback && !isFromProxyProtocol
    isTrusted = trusts(peer)
    self.trusts = trusts
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
    trusts = other.trusts
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
    /// The value of `X-Forwarded-For`: the address of the client, those of the trusted proxies behind it, and the address
    /// of the peer.
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

  /// Returns the client that the fields of the trusted proxies describe: `X-Forwarded-*`, or `Forwarded` (RFC 7239) if the
  /// request has none of them.
  ///
  /// The addresses are read from the end, up to the first one that is not a trusted proxy: what is in front of it may be
  /// the client's invention. An `X-Forwarded-Proto` or `X-Forwarded-Host` that occurs more than once is ignored.
  private func effectiveClient(_ bytes: Span<UInt8>, _ fields: HeadIndex) -> EffectiveClient {
    var client = EffectiveClient(address: peerHost, isSecure: isSecure, host: nil, chain: peerHost)
    guard fields.has(.forwardedFor) || fields.has(.forwardedProto) || fields.has(.forwardedHost) else {
      readForwarded(bytes, fields, &client)
      return client
    }
    for hop in ClientIdentity.lastElements(of: .forwardedFor, bytes, fields) {
      guard read(hop, bytes, &client) else { break }
    }
    if let range = fields.onlyValue(of: .forwardedProto) {
      client.isSecure = ClientIdentity.isSecure(ClientIdentity.lastElement(of: range, bytes))
    }
    if let range = fields.onlyValue(of: .forwardedHost) {
      client.host = ClientIdentity.lastElement(of: range, bytes)
    }
    return client
  }

  /// Reads `Forwarded`. The scheme and the host are those of the last element, which the nearest proxy has added.
  private func readForwarded(_ bytes: Span<UInt8>, _ fields: HeadIndex, _ client: inout EffectiveClient) {
    var isLast = true
    for element in ClientIdentity.lastElements(of: .forwarded, bytes, fields) {
      if isLast {
        if let scheme = ClientIdentity.parameter("proto", of: element, bytes) {
          client.isSecure = ClientIdentity.isSecure(ClientIdentity.text(bytes, scheme))
        }
        client.host = ClientIdentity.parameter("host", of: element, bytes).map { ClientIdentity.text(bytes, $0) }
        isLast = false
      }
      guard let hop = ClientIdentity.parameter("for", of: element, bytes), read(hop, bytes, &client) else { return }
    }
  }

  /// Reads the address of a hop. Returns true if it is that of a trusted proxy, so that the hop in front of it counts.
  private func read(_ hop: Range<Int>, _ bytes: Span<UInt8>, _ client: inout EffectiveClient) -> Bool {
    guard let address = ClientIdentity.address(bytes, hop) else { return false }
    client.address = address.host
    client.chain = "\(address.host), \(client.chain)"
    return trusts(address)
  }

  /// True for the schemes of TLS; load balancers send those of WebSocket, too.
  private static func isSecure(_ scheme: String) -> Bool {
    scheme.isEqualIgnoringCase(to: "https") || scheme.isEqualIgnoringCase(to: "wss")
  }

  /// Returns the elements of all lists in the fields of a kind that are not empty, the last one first; at most
  /// ``maximumHops``.
  ///
  /// Searches bytes, not characters: a client that ends its list with a combining character would hide the proxy's comma.
  /// A comma in quotation marks divides, too: a client that opens them would hide the proxy's element.
  private static func lastElements(of kind: KnownField, _ bytes: Span<UInt8>, _ fields: HeadIndex) -> [Range<Int>] {
    guard fields.has(kind) else { return [] }
    var elements: [Range<Int>] = []
    for index in (0..<fields.count).reversed() where fields[index].known == kind {
      let list = fields[index].value
      var end = list.upperBound
      while end > list.lowerBound, elements.count < maximumHops {
        var start = end
        while start > list.lowerBound, bytes[start - 1] != UInt8(ascii: ",") { start -= 1 }
        let element = bytes.trimmed(start..<end)
        if !element.isEmpty { elements.append(element) }
        end = max(list.lowerBound, start - 1)
      }
    }
    return elements
  }

  /// Returns the value of a parameter of a `Forwarded` element, without quotation marks; `nil` if there is none.
  private static func parameter(_ name: String, of element: Range<Int>, _ bytes: Span<UInt8>) -> Range<Int>? {
    var start = element.lowerBound
    while start < element.upperBound {
      let end = min(bytes.firstIndex(of: UInt8(ascii: ";"), from: start) ?? element.upperBound, element.upperBound)
      let pair = bytes.trimmed(start..<end)
      start = end + 1
      guard pair.count > name.utf8.count, bytes[pair.lowerBound + name.utf8.count] == UInt8(ascii: "="),
        bytes.extracting(pair.prefix(name.utf8.count)).isEqualIgnoringCase(to: name.utf8.span)
      else { continue }
      let value = pair.dropFirst(name.utf8.count + 1)
      guard value.count >= 2, bytes[value.lowerBound] == UInt8(ascii: "\""),
        bytes[value.upperBound - 1] == UInt8(ascii: "\"")
      else { return value }
      return value.dropFirst().dropLast()
    }
    return nil
  }

  /// Returns the address that is written as `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]` or
  /// `[2001:db8::1]:80`: some proxies add the port. Returns `nil` for another text, such as `unknown`.
  private static func address(_ bytes: Span<UInt8>, _ hop: Range<Int>) -> Address? {
    guard let first = hop.first, hop.count <= maximumElementLength else { return nil }
    var host = hop
    var port = hop.dropFirst(hop.count)
    if bytes[first] == UInt8(ascii: "["), let end = bytes.firstIndex(of: UInt8(ascii: "]"), from: first),
      end < hop.upperBound
    {
      host = first + 1..<end
      port = end + 1..<hop.upperBound
    } else if let colon = bytes.firstIndex(of: .colon, from: first), colon < hop.upperBound,
      bytes.extracting(colon + 1..<hop.upperBound).firstIndex(of: .colon) == nil
    {
      host = first..<colon
      port = colon..<hop.upperBound
    }
    guard port.isEmpty || (port.count > 1 && bytes[port.lowerBound] == .colon),
      bytes.extracting(port.dropFirst()).allSatisfy(\.isDigit)
    else { return nil }
    return Address(literal: text(bytes, host), port: 0)
  }

  /// Returns the last element of a list that is not empty; an empty text if it is longer than each scheme and host.
  private static func lastElement(of list: Range<Int>, _ bytes: Span<UInt8>) -> String {
    var end = list.upperBound
    while end > list.lowerBound, bytes[end - 1] == UInt8(ascii: ",") { end -= 1 }
    var start = end
    while start > list.lowerBound, bytes[start - 1] != UInt8(ascii: ",") { start -= 1 }
    return text(bytes, bytes.trimmed(start..<end))
  }

  /// Returns the text; an empty one if it is longer than each address, scheme and host.
  private static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    guard range.count <= maximumElementLength else { return "" }
    return String(decoding: [UInt8](copying: bytes.extracting(range)), as: UTF8.self).asciiReading
  }

  /// The number of proxies in a row that are read.
  private static let maximumHops = 8
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
