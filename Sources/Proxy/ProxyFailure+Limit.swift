import HTTP1
import Telemetry

/// The part of an exchange in which a request failed: `head` while the request head was awaited, `body` afterwards,
/// until the end of the response.
enum MessagePart {
  case head
  case body
}

extension ProxyFailure {
  /// Returns the limit that caused the failure, if any.
  func limit(in part: MessagePart) -> LimitKind? {
    switch self {
    case .request(let error):
      switch error.limit {
      case .bytes: .headerBytes
      case .fields: .headerFields
      case .target: .targetLength
      case nil: nil
      }
    case .timeout: part == .head ? .headerTimeout : .bodyTimeout
    case .bodyTooLarge: .body
    case .overloaded(let limit): limit
    case .upstream(.poolExhausted): .upstreamConnections
    case .upstream(.connectTimeout): .connectTimeout
    case .upstream(.responseTimeout): .responseTimeout
    case .loop, .upstream: nil
    }
  }
}
