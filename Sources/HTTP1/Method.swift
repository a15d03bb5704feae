/// Request methods that the proxy tells apart (RFC 9110, section 9). Others pass as `other`.
public enum Method: UInt8, Sendable {
  case get
  case head
  case post
  case put
  case delete
  case patch
  case options
  case trace
  case connect
  case other

  /// Methods are case-sensitive.
  init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
    func matches(_ text: String) -> Bool {
      var position = range.lowerBound
      for byte in text.utf8 {
        if bytes[position] != byte { return false }
        position += 1
      }
      return true
    }
    self = .other
    switch range.count {
    case 3:
      if matches("GET") { self = .get } else if matches("PUT") { self = .put }
    case 4:
      if matches("POST") { self = .post } else if matches("HEAD") { self = .head }
    case 5:
      if matches("PATCH") { self = .patch } else if matches("TRACE") { self = .trace }
    case 6:
      if matches("DELETE") { self = .delete }
    case 7:
      if matches("OPTIONS") { self = .options } else if matches("CONNECT") { self = .connect }
    default: break
    }
  }

  /// Whether a request that may have been received can be sent again (RFC 9110, section 9.2.2).
  public var isIdempotent: Bool {
    switch self {
    case .get, .head, .put, .delete, .options: true
    case .post, .patch, .trace, .connect, .other: false
    }
  }
}
