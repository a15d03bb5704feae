internal import ByteText

/// The kind of a header field, which the proxy determines from the field's name regardless of letter case.
///
/// The raw value is the number of the kind's bit in `HeadIndex.presentKinds`.
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
  /// A field whose value replaces the path, method or host of the request, or the charset of its parameters, on some
  /// servers. It is never forwarded.
  case requestOverride
  /// A name that has characters other than letters, digits and hyphens, and that folds (`foldedInName`) to a name of
  /// `KnownFieldTable`, e.g. `X_Forwarded_For`. CGI-like servers confuse the two names, so the field is never
  /// forwarded. (A field whose name folds to an `identity` or `common` name is `irregular` instead.)
  case disguised
  /// A claim about the client's identity or address that some servers trust. `IdentityFields` decides whether it is
  /// forwarded.
  case identity
  /// Any other name with characters other than letters, digits and hyphens. `IdentityFields` decides whether it is
  /// forwarded.
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
  /// A field that leads the browser to another address for the same origin (RFC 7838).
  case alternativeService
  /// Any other field that a `Connection` option must not remove (RFC 9110, section 7.6.1).
  case endToEnd
  /// `X-Request-ID`. `IdentityFields` treats it like a `common` field.
  case requestID
  /// A field that is common in requests and that the proxy does not evaluate. No built-in glob of `IdentityFields`
  /// matches it, so it is compared only with configured globs.
  case common
}

extension KnownField {
  /// True for a field whose URL a browser may follow or use as the address of the content; false for `link`.
  public var isLocation: Bool { self == .location || self == .contentLocation || self == .refresh }

  /// True if a name with special characters that folds to a name of this kind is `irregular`; false if such a name is
  /// `disguised`.
  var isIrregularIfFolded: Bool { self == .none || self == .identity || self == .common || self == .requestID }
}

/// A folded field name (`foldedInName`). `high` and `low` contain its last 16 bytes, so that a look-up compares two
/// words instead of many bytes.
struct FoldedName: Equatable {
  private(set) var low: UInt64 = 0
  private(set) var high: UInt64 = 0
  private(set) var count = 0

  /// The number of bytes in the two words. If a name is longer, its bytes are compared one by one, too.
  static let wordBytes = 16

  /// - Parameter isPlain: True if the name differs from its folded form at most in letter case. Whole words are then
  ///   folded by setting the case bit, which is already set in digits and hyphens. With false, each byte is folded. The
  ///   result is the same for every name, but takes longer.
  @inline(__always)
  init(_ bytes: Span<UInt8>, _ range: Range<Int>, isPlain: Bool) {
    let end = range.upperBound
    guard isPlain, end >= FoldedName.wordBytes else {
      for index in range { append(bytes[index].foldedInName) }
      return
    }
    count = range.count
    low = FoldedName.lastBytes(count, of: bytes.word(at: end &- 8).byteSwapped)
    high = FoldedName.lastBytes(count &- 8, of: bytes.word(at: end &- 16).byteSwapped)
  }

  init(_ name: [UInt8]) {
    for byte in name { append(byte) }
  }

  /// Returns the last `count` bytes of the word, in lower case.
  @inline(__always)
  private static func lastBytes(_ count: Int, of word: UInt64) -> UInt64 {
    guard count > 0 else { return 0 }
    let folded = word | 0x2020_2020_2020_2020
    return count < 8 ? folded & ~(~0 &<< UInt64(truncatingIfNeeded: count &* 8)) : folded
  }

  private mutating func append(_ folded: UInt8) {
    high = high << 8 | low >> 56
    low = low << 8 | UInt64(folded)
    count &+= 1
  }

  /// True for the `Connection` option `close`. All other options that are evaluated are names of `KnownFieldTable`.
  var isClose: Bool { count == 5 && low == 0x63_6c6f_7365 }

  /// The hash of the name: 9 bits. The highest bits of the product depend on all bits of both words (Fibonacci
  /// hashing).
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
    ("alt-svc", .alternativeService),
    ("dpop", .endToEnd),
    ("www-authenticate", .endToEnd), ("x-http-method-override", .endToEnd),
    ("x-http-method", .endToEnd), ("x-method-override", .endToEnd), ("x-frame-options", .endToEnd),
    ("range", .endToEnd), ("vary", .endToEnd),
    ("x-forwarded-uri", .requestOverride), ("x-forwarded-method", .requestOverride),
    ("x-forwarded-path", .requestOverride), ("x-forwarded", .requestOverride), ("x-original-url", .requestOverride),
    ("x-rewrite-url", .requestOverride), ("x-original-uri", .requestOverride), ("x-original-host", .requestOverride),
    ("x-host", .requestOverride), ("x-original-method", .requestOverride), ("x-envoy-original-path", .requestOverride),
    ("x-envoy-original-method", .requestOverride), ("x-waws-unencoded-url", .requestOverride),
    ("x-unencoded-url", .requestOverride), ("unencoded-url", .requestOverride), ("proxy", .requestOverride),
    ("script-name", .requestOverride), ("path-info", .requestOverride), ("x-script-name", .requestOverride),
    ("x-up-devcap-post-charset", .requestOverride),
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
    ("x-url-scheme", .identity), ("x-scheme", .identity), ("x-user", .identity), ("x-kerberos-user", .identity),
    ("x-client-verify", .identity), ("x-jwt-assertion", .identity), ("x-id-token", .identity),
    ("x-access-token", .identity), ("kong-consumer", .identity), ("x-http-host-override", .identity),
    ("x-override-url", .identity), ("x-rewrite-uri", .identity), ("x-replaced-path", .identity),
    ("x-http-destinationurl", .identity), ("base-url", .identity), ("x-sendfile-type", .identity),
    ("x-accel-mapping", .identity),
    ("accept", .common), ("accept-encoding", .common), ("accept-language", .common), ("user-agent", .common),
    ("if-none-match", .common), ("if-modified-since", .common), ("if-match", .common), ("if-range", .common),
    ("if-unmodified-since", .common), ("upgrade-insecure-requests", .common), ("sec-fetch-site", .common),
    ("sec-fetch-mode", .common), ("sec-fetch-dest", .common), ("sec-fetch-user", .common), ("sec-ch-ua", .common),
    ("sec-ch-ua-mobile", .common), ("sec-ch-ua-platform", .common), ("sec-websocket-key", .common),
    ("sec-websocket-version", .common), ("sec-websocket-extensions", .common), ("sec-websocket-protocol", .common),
    ("sec-gpc", .common), ("dnt", .common), ("priority", .common), ("x-requested-with", .common),
    ("x-csrf-token", .common), ("x-xsrf-token", .common), ("x-request-id", .requestID), ("x-correlation-id", .common),
    ("traceparent", .common), ("tracestate", .common), ("baggage", .common), ("last-event-id", .common),
    ("content-language", .common), ("access-control-request-method", .common),
    ("access-control-request-headers", .common),
  ]

  private struct Entry {
    let name: FoldedName
    let field: KnownField
    /// The bytes of the name if it is longer than `FoldedName.wordBytes`, otherwise empty.
    let bytes: [UInt8]
  }

  private static let size = 512
  private let known: [Entry]
  /// The slots of a hash table with open addressing. A slot contains 0 if it is empty, otherwise an index of `known`
  /// plus one.
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

  /// Returns the kind of the field with the name in `range`, whose folded form is `name`; `.none` if the name is not in
  /// the table.
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
