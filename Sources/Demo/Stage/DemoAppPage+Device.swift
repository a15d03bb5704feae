import Gateway
import HTTP
import LegacyServer
import Markup

/// The pages of the device.
extension DemoAppPage {
  /// The page for a device whose sign-in has not started or has ended.
  static var noDevice: Response { message(404, "Not found", "No sign-in of the device is in progress.") }

  /// Returns the page with the code of the device, which loads itself again after the interval of the flow.
  static func deviceCode(_ device: DemoDevice, _ flow: DemoDevice.Flow) -> Response {
    var response = page(
      200, device.name,
      """
      <p>This page represents a device without a browser, for example a television: client <b>\(device.clientID)</b>. It
      has no redirect URI. It shows a code and asks the token endpoint every \(String(flow.interval)) seconds.</p>
      <p class="code">\(flow.userCode)</p>
      <div class="qr">\(QRCode(flow.verificationURI.description)?.svg)</div>
      <p>On another device, open <a href="\(url: flow.verificationURI.description)" target="_blank" rel="noopener">\
      \(flow.verificationURI.description)</a> and type this code.</p>
      <p class="small">User name <b>alice</b>, password <b>wonderland</b>. The gateway redeems nothing until you allow the
      device after the sign-in.</p>
      """)
    response.headers.set("Refresh", String(flow.interval))
    return response
  }

  /// Returns the page with the result of a sign-in of the device.
  static func deviceResult(tokenResponse: Response, resourceResponse: Response?) -> Response {
    let resourceSection: HTML =
      resourceResponse.map {
        "<h2>2. The legacy server's response to that token</h2><pre>\($0.status) \(String(decoding: $0.body, as: UTF8.self))</pre>"
      } ?? ""
    return page(
      200, resourceResponse?.status == 200 ? "Signed in" : "Not signed in",
      """
      <h2>1. The token endpoint's response to the device</h2>
      <pre>\(tokenResponse.status) \(String(decoding: tokenResponse.body, as: UTF8.self))</pre>
      \(resourceSection)
      <p><a class="button" href="/">Again</a></p>
      """)
  }
}
