import FoundationEssentials
import Gateway
import HTTP
import Markup
import Testing

@testable import Demo

@Suite("The page of the demo's device")
struct DevicePageTests {
  @Test("The page shows the address of the device page as a QR code inside the page, and its policy permits no image")
  func inlineCode() throws {
    let flow = try JSONDecoder().decode(
      DemoDevice.Flow.self,
      from: Data(
        #"{"device_code":"d","user_code":"WDJB-MJHT","verification_uri":"http://gateway.test/device"}"#.utf8))
    let page = DemoAppPage.deviceCode(StubDeviceGateway.device, flow)
    let text = String(decoding: page.body, as: UTF8.self)
    let image = try #require(QRCode("http://gateway.test/device")).svg.text
    #expect(text.contains(image) && image.hasPrefix("<svg "))
    #expect(!text.contains("<img"))
    #expect(page.headers["Content-Security-Policy"]?.hasPrefix("default-src 'none'; style-src 'unsafe-inline'") == true)
  }
}
