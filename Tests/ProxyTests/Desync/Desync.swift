/// The cases by attack class, written for this kit.
enum Desync {
  static let host = "Host: gateway.test\r\n"
  /// A request that must never be read as a request.
  static let inner = "GET /smuggled HTTP/1.1\r\nHost: gateway.test\r\n\r\n"
  static let chunkedHello = "5\r\nhello\r\n0\r\n\r\n"

  /// A printable name for arbitrary bytes.
  static func shown(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      scalar.value < 0x20 || scalar.value > 0x7e ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
    }.joined()
  }

  static func post(_ fields: String, _ body: String, version: String = "1.1") -> String {
    "POST / HTTP/\(version)\r\n\(host)\(fields)\r\n\(body)"
  }

  static func get(_ fields: String) -> String { "GET / HTTP/1.1\r\n\(host)\(fields)\r\n" }
}
