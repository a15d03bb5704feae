internal import ByteText

/// The field names that the proxy treats specially, recognised regardless of letter case.
///
/// The raw value is the bit of the field in `HeadIndex.present`.
public enum KnownField: UInt8, Sendable {
  /// A name that is not in `KnownFieldTable`.
  case none
  case host
  case contentLength
  case transferEncoding
  case connection
  case keepAlive
  case proxyConnection
  case te
  case trailer
  case upgrade
  case http2Settings
  case expect
  case via
  case forwarded
  case forwardedFor
  case forwardedProto
  case forwardedHost
  /// A name whose value overrides the path, method or host of the request on some servers: never forwarded.
  case assertion
  /// A known name with other characters in place of its hyphens, which CGI-like servers fold to the known one: never
  /// forwarded.
  case disguised
  /// A claim about the client's identity or address that some servers trust: forwarded for trusted proxies only.
  case identity
  /// A name with characters other than letters, digits and hyphens that is not `disguised`: forwarded for trusted
  /// proxies only.
  case irregular
  case location
  case contentLocation
  /// A field whose `url=` redirects the browser like a Location.
  case refresh
  /// A field whose target a browser may fetch without user action (RFC 8288).
  case link
  case setCookie
  case cookie
  case authorization
  case contentType
  case contentEncoding
  case date
  case server
  case strictTransportSecurity
  /// Other fields that a `Connection` option must not remove (RFC 9110, section 7.6.1).
  case endToEnd
  /// Fields that are common in requests and have no meaning here. No built-in glob matches them, so they are only
  /// compared with configured globs.
  case common
}

extension KnownField {
  /// True for a field whose URL a browser may follow or use as the address of the content; false for `link`.
  public var isLocation: Bool { self == .location || self == .contentLocation || self == .refresh }

  /// True for a name that the gateway itself neither reads nor writes.
  var isClaimOrUnknown: Bool { self == .none || self == .identity || self == .common }
}

/// A folded field name (lower case, with `-` for everything except letters and digits). Two words contain its last 16
/// bytes, so that a look-up compares words instead of bytes.
struct FoldedName: Equatable {
  private(set) var low: UInt64 = 0
  private(set) var high: UInt64 = 0
  private(set) var count = 0

  /// The number of bytes in the two words. The bytes in front of them are compared one by one.
  static let wordBytes = 16

  /// - Parameter isPlain: if true, the name differs from its folded form at most in letter case. Then whole words are
  ///   folded by setting the case bit, which digits and hyphens have already set.
  @inline(__always)
  init(_ bytes: Span<UInt8>, _ range: Range<Int>, isPlain: Bool) {
    let end = range.upperBound
    guard isPlain, end >= FoldedName.wordBytes else {
      for index in range { append(bytes[index].foldedInName) }
      return
    }
    count = range.count
    low = FoldedName.last(count, of: bytes.word(at: end &- 8).byteSwapped)
    high = FoldedName.last(count &- 8, of: bytes.word(at: end &- 16).byteSwapped)
  }

  init(_ name: [UInt8]) {
    for byte in name { append(byte) }
  }

  /// Returns the last `count` bytes of the word, in lower case.
  @inline(__always)
  private static func last(_ count: Int, of word: UInt64) -> UInt64 {
    guard count > 0 else { return 0 }
    let folded = word | 0x2020_2020_2020_2020
    return count < 8 ? folded & ~(~0 &<< UInt64(count &* 8)) : folded
  }

  private mutating func append(_ folded: UInt8) {
    high = high << 8 | low >> 56
    low = low << 8 | UInt64(folded)
    count &+= 1
  }

  /// True for the `Connection` option `close`, the only evaluated option that is not the name of a field in the table.
  var isClose: Bool { count == 5 && low == 0x63_6c6f_7365 }

  /// The hash by Fibonacci hashing, 9 bits: the top bits of the product depend on all bits of the factor.
  var hash: Int { Int(truncatingIfNeeded: ((low ^ high &* 0x9e37_79b9) &* 0x9e37_79b9_7f4a_7c15) >> 55) }
}

/// A hash table of the known names.
struct KnownFieldTable {
  private static let entries: [(String, KnownField)] = [
    ("host", .host), ("content-length", .contentLength), ("transfer-encoding", .transferEncoding),
    ("connection", .connection), ("keep-alive", .keepAlive), ("proxy-connection", .proxyConnection), ("te", .te),
    ("trailer", .trailer), ("upgrade", .upgrade), ("http2-settings", .http2Settings), ("expect", .expect),
    ("via", .via), ("forwarded", .forwarded), ("x-forwarded-for", .forwardedFor),
    ("x-forwarded-proto", .forwardedProto), ("x-forwarded-host", .forwardedHost), ("location", .location),
    ("content-location", .contentLocation), ("refresh", .refresh), ("link", .link),
    ("set-cookie", .setCookie), ("cookie", .cookie), ("authorization", .authorization),
    ("content-type", .contentType), ("content-encoding", .contentEncoding), ("date", .date), ("server", .server),
    ("cache-control", .endToEnd), ("pragma", .endToEnd), ("origin", .endToEnd), ("referer", .endToEnd),
    ("content-security-policy", .endToEnd), ("strict-transport-security", .strictTransportSecurity),
    ("dpop", .endToEnd),
    ("www-authenticate", .endToEnd), ("x-http-method-override", .endToEnd),
    ("x-http-method", .endToEnd), ("x-method-override", .endToEnd), ("x-frame-options", .endToEnd),
    ("range", .endToEnd), ("vary", .endToEnd),
    ("x-forwarded-uri", .assertion), ("x-forwarded-method", .assertion), ("x-forwarded-path", .assertion),
    ("x-forwarded", .assertion), ("x-original-url", .assertion), ("x-rewrite-url", .assertion),
    ("x-original-uri", .assertion), ("x-original-host", .assertion), ("x-host", .assertion),
    ("x-original-method", .assertion), ("x-envoy-original-path", .assertion), ("x-envoy-original-method", .assertion),
    ("x-waws-unencoded-url", .assertion), ("x-unencoded-url", .assertion), ("unencoded-url", .assertion),
    ("proxy", .assertion), ("script-name", .assertion), ("path-info", .assertion), ("x-script-name", .assertion),
    ("x-forwarded-port", .identity), ("x-forwarded-server", .identity), ("x-forwarded-prefix", .identity),
    ("x-forwarded-scheme", .identity), ("x-forwarded-ssl", .identity), ("x-forwarded-user", .identity),
    ("x-forwarded-email", .identity), ("x-forwarded-preferred-username", .identity),
    ("x-forwarded-groups", .identity), ("x-forwarded-access-token", .identity), ("x-forwarded-by", .identity),
    ("x-forwarded-client-cert", .identity), ("x-forwarded-tls-client-cert", .identity), ("x-real-ip", .identity),
    ("x-client-ip", .identity), ("client-ip", .identity), ("true-client-ip", .identity),
    ("x-cluster-client-ip", .identity), ("cf-connecting-ip", .identity), ("x-remote-user", .identity),
    ("x-remote-addr", .identity), ("remote-user", .identity), ("remote-addr", .identity),
    ("x-auth-request-user", .identity), ("x-auth-request-email", .identity), ("x-authenticated-user", .identity),
    ("client-cert", .identity), ("client-cert-chain", .identity), ("x-client-cert", .identity),
    ("x-ssl-client-cert", .identity), ("x-ssl-client-verify", .identity), ("x-ssl-client-s-dn", .identity),
    ("ssl-client-cert", .identity), ("ssl-client-verify", .identity), ("front-end-https", .identity),
    ("x-url-scheme", .identity), ("x-scheme", .identity),
    ("accept", .common), ("accept-encoding", .common), ("accept-language", .common), ("user-agent", .common),
    ("if-none-match", .common), ("if-modified-since", .common), ("if-match", .common), ("if-range", .common),
    ("if-unmodified-since", .common), ("upgrade-insecure-requests", .common), ("sec-fetch-site", .common),
    ("sec-fetch-mode", .common), ("sec-fetch-dest", .common), ("sec-fetch-user", .common), ("sec-ch-ua", .common),
    ("sec-ch-ua-mobile", .common), ("sec-ch-ua-platform", .common), ("sec-websocket-key", .common),
    ("sec-websocket-version", .common), ("sec-websocket-extensions", .common), ("sec-websocket-protocol", .common),
    ("sec-gpc", .common), ("dnt", .common), ("priority", .common), ("x-requested-with", .common),
    ("x-csrf-token", .common), ("x-xsrf-token", .common), ("x-request-id", .common), ("x-correlation-id", .common),
    ("traceparent", .common), ("tracestate", .common), ("baggage", .common), ("last-event-id", .common),
    ("content-language", .common), ("access-control-request-method", .common),
    ("access-control-request-headers", .common),
  ]

  private struct Entry {
    let name: FoldedName
    let field: KnownField
    /// The whole name if it is longer than the two words, otherwise empty.
    let bytes: [UInt8]
  }

  private static let size = 512
  private let known: [Entry]
  /// A hash table with open addressing. Each slot contains an index into `known` plus one, or 0 if it is empty.
  private let slots: [UInt8]

  init() {
    known = KnownFieldTable.entries.map { name, field in
      let bytes = Array(name.utf8)
      return Entry(name: FoldedName(bytes), field: field, bytes: bytes.count > FoldedName.wordBytes ? bytes : [])
    }
    var slots = [UInt8](repeating: 0, count: KnownFieldTable.size)
    for (index, entry) in known.enumerated() {
      var slot = entry.name.hash
      while slots[slot] != 0 { slot = (slot + 1) % KnownFieldTable.size }
      slots[slot] = UInt8(index + 1)
    }
    self.slots = slots
  }

  /// Returns the kind of the field with the name in `range`, whose folded form is `name`; `.none` if it is not in the
  /// table.
  func find(_ bytes: Span<UInt8>, _ range: Range<Int>, _ name: FoldedName) -> KnownField {
    var slot = name.hash
    while true {
      let entry = Int(slots[slot])
      if entry == 0 { return .none }
      if known[entry - 1].name == name, matches(entry - 1, bytes, range) { return known[entry - 1].field }
      slot = (slot + 1) % KnownFieldTable.size
    }
  }

  private func matches(_ entry: Int, _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    guard range.count > FoldedName.wordBytes else { return true }
    for index in 0..<range.count
    where bytes[range.lowerBound + index].foldedInName != known[entry].bytes[index] { return false }
    return true
  }
}
