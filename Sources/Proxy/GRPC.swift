import HTTP
import HTTP1

/// gRPC calls. gRPC is defined only for HTTP/2, and the gateway speaks HTTP/1.1 to the server: a server that answers such
/// a request at all gives a response without a status, from which the client cannot tell whether the call succeeded. So
/// calls are refused.
enum GRPC {
  private static let contentType: StaticString = "application/grpc"

  /// True if the content type is `application/grpc` or a variant such as `application/grpc+proto`.
  /// `application/grpc-web` is another protocol, which has its trailers in the body.
  static func isCall(_ bytes: Span<UInt8>, _ fields: HeadIndex) -> Bool {
    for field in fields where field.known == .contentType {
      let length = contentType.utf8CodeUnitCount
      guard HeadIndex.equalIgnoringCase(bytes, field.value.prefix(length), "application/grpc") else { continue }
      // The type must be followed by the end of the value, `+`, `;`, a space or a tab.
      if field.value.count == length { return true }
      let next = bytes[field.value.lowerBound + length]
      if next == 0x2b || next == 0x3b || next == 0x20 || next == 0x09 { return true }
    }
    return false
  }

  /// A gRPC response with the status UNIMPLEMENTED, in the form Trailers-Only, in which the head contains the status.
  static let unimplemented = Response(
    status: 200,
    headers: [
      "Content-Type": "application/grpc", "Grpc-Status": "12", "Grpc-Message": "gRPC is not forwarded by this gateway",
    ])

  /// The error for a call over HTTP/1.1. gRPC is defined only for HTTP/2, so the client gets an HTTP status instead of
  /// a gRPC status.
  static let refusal = MessageError(status: 415, "a gRPC call, which needs HTTP/2 up to the server")
}
