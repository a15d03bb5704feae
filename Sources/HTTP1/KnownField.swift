/// Field names that the proxy treats specially, recognised without regard to case.
///
/// The raw value indexes `KnownFieldTable.entries`.
public enum KnownField: UInt8, Sendable {
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
  /// A claim about who or where the client is, or what it asked for, that some servers believe: never forwarded.
  case assertion
  /// A known name spelled with underscores, which CGI-like servers fold onto the real one: never forwarded.
  case disguised
  case location
  /// `url=` in it sends the browser elsewhere, like a Location.
  case refresh
  case setCookie
  case cookie
  case authorization
  case contentType
  case contentEncoding
  case date
  case server
  /// Other fields that must not be removable by a `Connection` option (RFC 9110, section 7.6.1).
  case endToEnd
}

/// Looks names up by a hash that is computed while the name is validated.
struct KnownFieldTable {
  private static let entries: [(String, KnownField)] = [
    ("host", .host), ("content-length", .contentLength), ("transfer-encoding", .transferEncoding),
    ("connection", .connection), ("keep-alive", .keepAlive), ("proxy-connection", .proxyConnection), ("te", .te),
    ("trailer", .trailer), ("upgrade", .upgrade), ("http2-settings", .http2Settings), ("expect", .expect),
    ("via", .via), ("forwarded", .forwarded), ("x-forwarded-for", .forwardedFor),
    ("x-forwarded-proto", .forwardedProto), ("x-forwarded-host", .forwardedHost), ("location", .location), ("refresh", .refresh),
    ("set-cookie", .setCookie), ("cookie", .cookie), ("authorization", .authorization),
    ("content-type", .contentType), ("content-encoding", .contentEncoding), ("date", .date), ("server", .server),
    ("cache-control", .endToEnd), ("pragma", .endToEnd), ("origin", .endToEnd), ("referer", .endToEnd),
    ("content-security-policy", .endToEnd), ("strict-transport-security", .endToEnd), ("dpop", .endToEnd),
    ("www-authenticate", .endToEnd), ("x-frame-options", .endToEnd), ("range", .endToEnd), ("vary", .endToEnd),
    ("x-forwarded-port", .assertion), ("x-forwarded-server", .assertion), ("x-forwarded-prefix", .assertion),
    ("x-forwarded-scheme", .assertion), ("x-forwarded-ssl", .assertion), ("x-forwarded-user", .assertion),
    ("x-forwarded-email", .assertion), ("x-forwarded-preferred-username", .assertion),
    ("x-forwarded-groups", .assertion), ("x-forwarded-access-token", .assertion), ("x-forwarded-uri", .assertion),
    ("x-forwarded-method", .assertion), ("x-forwarded-path", .assertion), ("x-forwarded", .assertion),
    ("x-forwarded-by", .assertion), ("x-forwarded-client-cert", .assertion), ("x-forwarded-tls-client-cert", .assertion),
    ("x-real-ip", .assertion), ("x-client-ip", .assertion), ("client-ip", .assertion),
    ("true-client-ip", .assertion), ("x-cluster-client-ip", .assertion), ("cf-connecting-ip", .assertion),
    ("x-original-url", .assertion), ("x-rewrite-url", .assertion), ("x-original-uri", .assertion),
    ("x-original-host", .assertion), ("x-host", .assertion), ("x-remote-user", .assertion),
    ("x-remote-addr", .assertion), ("remote-user", .assertion), ("remote-addr", .assertion),
    ("x-auth-request-user", .assertion), ("x-auth-request-email", .assertion), ("x-authenticated-user", .assertion),
    ("client-cert", .assertion), ("client-cert-chain", .assertion), ("x-client-cert", .assertion),
    ("x-ssl-client-cert", .assertion), ("x-ssl-client-verify", .assertion), ("x-ssl-client-s-dn", .assertion),
    ("ssl-client-cert", .assertion), ("ssl-client-verify", .assertion), ("front-end-https", .assertion),
    ("x-url-scheme", .assertion), ("x-scheme", .assertion), ("proxy", .assertion), ("script-name", .assertion),
    ("path-info", .assertion), ("x-script-name", .assertion),
  ]

  private static let size = 512
  /// All names, one after the other, and where each begins; one more than there are names.
  private let names: [UInt8]
  private let starts: [Int]
  private let fields: [KnownField]
  /// Index into `names` plus one; 0 is empty. Open addressing.
  private let slots: [UInt8]

  init() {
    let entries = KnownFieldTable.entries.map { Array($0.0.utf8) }
    names = Array(entries.joined())
    starts = entries.reduce(into: [0]) { starts, name in starts.append((starts.last ?? 0) + name.count) }
    fields = KnownFieldTable.entries.map(\.1)
    var slots = [UInt8](repeating: 0, count: KnownFieldTable.size)
    for (index, name) in entries.enumerated() {
      var hash = KnownFieldTable.seed
      for byte in name { hash = KnownFieldTable.mix(hash, byte) }
      var slot = KnownFieldTable.slot(hash)
      while slots[slot] != 0 { slot = (slot + 1) % KnownFieldTable.size }
      slots[slot] = UInt8(index + 1)
    }
    self.slots = slots
  }

  static let seed: UInt32 = 5381

  /// `byte` in lower case, with `_` as `-`.
  static func mix(_ hash: UInt32, _ byte: UInt8) -> UInt32 {
    (hash &* 33) ^ UInt32(byte)
  }

  private static func slot(_ hash: UInt32) -> Int {
    Int(truncatingIfNeeded: (hash ^ (hash >> 15)) & 511)
  }

  /// The field with the name in `range`, whose folded bytes have `hash`.
  func find(_ bytes: Span<UInt8>, _ range: Range<Int>, hash: UInt32) -> KnownField {
    var slot = KnownFieldTable.slot(hash)
    while true {
      let entry = Int(slots[slot])
      if entry == 0 { return .none }
      if matches(entry - 1, bytes, range) { return fields[entry - 1] }
      slot = (slot + 1) % KnownFieldTable.size
    }
  }

  private func matches(_ entry: Int, _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    let start = starts[entry]
    guard starts[entry + 1] - start == range.count else { return false }
    for index in 0..<range.count
    where ASCII.folded(bytes[range.lowerBound + index]) != names[start + index] { return false }
    return true
  }
}
