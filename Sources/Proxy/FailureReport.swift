import AccessLog
public import HTTP
import HTTP1
import Telemetry

/// A request that the gateway itself answered with an error, or whose response was cut, for the operator.
public struct FailureReport: Sendable {
  /// The status of the response to the client; 0 if the response was cut, `nil` if the handler decides on it.
  public let status: Int?
  /// The reason in words. Without text of the request or of the response.
  public let reason: String
  /// The facts from which the id of the request follows.
  public let reference: RequestReference
  /// The request, as far as it is known.
  public let request: FailedRequest
}

/// The parts of a failed request that a message to the operator shows.
public struct FailedRequest: Sendable {
  /// The address of the client.
  public var peer: String
  /// The method; `nil` if the request could not be read.
  public var method: String?
  /// The path, without secrets, control characters and characters beyond ASCII; `nil` if it is not known any more.
  public var path: String?

  /// The maximum number of bytes of a path.
  private static let maximumPathLength = 256

  init(peer: String) {
    self.peer = peer
  }

  init(_ request: Request) {
    peer = request.peer.address
    method = request.method
    path = FailedRequest.shown(request.path.utf8.span)
  }

  init(_ head: RequestHead, _ bytes: Span<UInt8>, peer: String) {
    self.peer = peer
    method = RequestReader.text(bytes, head.methodRange)
    path = FailedRequest.shown(bytes.extracting(head.path))
  }

  private static func shown(_ path: Span<UInt8>) -> String {
    var shown: [UInt8] = []
    SecretRedaction.append(path: path, to: &shown)
    return LogText.escaped(shown.span.extracting(0..<min(shown.count, maximumPathLength)))
  }
}

extension ProxyFailure {
  /// The reason in words, for the operator.
  ///
  /// - Parameter limit: The limit that was reached, if any.
  func reason(_ limit: LimitKind?) -> String {
    let text =
      switch self {
      case .request(let error): error.description
      case .timeout: "the client was too slow"
      case .overloaded: "a limit was reached"
      case .bodyTooLarge(let limit): "the body is longer than \(limit) bytes"
      case .loop: "the request has already passed through this gateway, as its `Via` shows"
      case .upstream(let failure): failure.reason
      }
    return limit.map { "\(text) (`\($0.rawValue)`)" } ?? text
  }
}

extension UpstreamFailure {
  /// The reason in words, for the operator.
  var reason: String {
    switch self {
    case .unreachable: "the upstream does not accept connections, or its name has no address"
    case .poolExhausted: "all connections to the upstream are in use"
    case .connectTimeout: "no connection to the upstream in time"
    case .insecure: "no TLS connection to the upstream"
    case .responseTimeout: "no complete answer of the upstream in time"
    case .reset: "the upstream closed the connection before its answer was complete"
    case .malformed(let reason): "the answer of the upstream was refused: \(reason)"
    case .outOfMemory: "the system has no memory for a buffer"
    case .unsendable: "the request to the upstream cannot be encoded"
    case .clientGone: "the client went away"
    }
  }
}
