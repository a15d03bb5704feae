import Enforcement
import HTTP
import Markup
import OAuth
import Policy
import Proxy

/// Serves the address of the device page as a QR code, which a device with a screen can show.
///
/// The image is computed from the request alone: neither the image nor the time of the response shows if a code is live.
/// It contains no text of the request but a well-formed user code.
struct DeviceQRCodeEndpoint {
  /// The name of the endpoint below the gateway's own path.
  static let name = "qr"

  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  func respond() -> Response {
    guard ["GET", "HEAD"].contains(intercepted.request.method) else {
      return intercepted.respond(with: .withoutRedirect(.methodNotAllowed))
    }
    let text = FormParameters(parsing: intercepted.request.query ?? "")?[named: DevicePage.Field.userCode]
    let acceptsCode = intercepted.policy.clients.values.contains { $0.deviceCompleteURI }
    let code = acceptsCode ? text.flatMap { UserCode(typed: $0) } : nil
    guard let image = QRCode(intercepted.policy.devicePageURI(with: code)) else {
      // The origin is too long for a code.
      intercepted.trail.recordRefusal(.pathNotPassed)
      return intercepted.pages.error(ErrorPage(.pathNotPassed), as: ErrorForm(intercepted.request.headers))
    }
    return Response(
      status: 200,
      headers: [
        "Content-Type": "image/svg+xml", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Cross-Origin-Resource-Policy": "cross-origin", "Referrer-Policy": "no-referrer",
      ],
      body: image.svg.utf8)
  }
}
