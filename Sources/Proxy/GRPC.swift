import HTTP
import HTTP1

/// gRPC calls. A gRPC response ends with trailers, which the gateway does not forward: the client would get a response
/// without a status and could not report the result. So calls are refused.
enum GRPC {
  private static let contentType: StaticString = "application/grpc"

  /// True for `application/grpc` and its variants such as `application/grpc+proto`. `application/grpc-web` is another
  /// protocol, which has its trailers in the body.
  static func isCall(_ bytes: Span<UInt8>, _ fields: HeadIndex) -> Bool {
    for field in fields where field.known == .contentType {
      let length = contentType.utf8CodeUnitCount
      guard HeadIndex.equal(bytes, field.value.prefix(length), "application/grpc") else { continue }
      // The end of the value, or `+`, `;`, a space or a tab.
      if field.value.count == length { return true }
      let next = bytes[field.value.lowerBound + length]
      if next == 0x2b || next == 0x3b || next == 0x20 || next == 0x09 { return true }
    }
    return false
  }

  /// The response that a gRPC client understands, in the form Trailers-Only: UNIMPLEMENTED.
  static let unimplemented = Response(
    status: 200,
    headers: [
      "Content-Type": "application/grpc", "Grpc-Status": "12", "Grpc-Message": "gRPC is not forwarded by this gateway",
    ])

  /// The error over HTTP/1.1, which gRPC clients do not use.
  static let refusal = MessageError(status: 415, "a gRPC call, whose trailers are not forwarded")
}
