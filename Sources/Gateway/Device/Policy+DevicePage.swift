import OAuth
import Policy

extension Policy {
  /// Returns the address of the device page.
  ///
  /// - Parameter code: The user code that the page shows for comparison (RFC 8628, section 3.3.1); `nil` for none.
  func devicePageURI(with code: UserCode?) -> String {
    let page = gateway.origin.description + GatewaySettings.devicePath
    return code.map { "\(page)?\(DevicePage.Field.userCode)=\($0.text)" } ?? page
  }
}
