import HTTP1
import Telemetry

/// The stage in which a request failed.
enum FailureStage {
  /// The request head was awaited.
  case awaitingHead
  /// The request head had been received, and the response had not ended.
  case afterHead
}

extension ProxyFailure {
  /// Returns the limit that caused the failure, if any.
  func limit(at stage: FailureStage) -> LimitKind? {
    switch self {
    case .request(let error):
      switch error.limit {
      case .bytes: .headerBytes
      case .fields: .headerFields
      case .target: .targetLength
      case nil: nil
      }
    case .timeout: stage == .awaitingHead ? .headerTimeout : .bodyTimeout
    case .bodyTooLarge: .body
    case .overloaded(let limit): limit
    case .upstream(.poolExhausted): .upstreamConnections
    case .upstream(.connectTimeout): .connectTimeout
    case .upstream(.responseTimeout): .responseTimeout
    case .loop, .upstream: nil
    }
  }
}
