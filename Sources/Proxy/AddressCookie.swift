internal import ByteText
import HTTP
import HTTP1
import Reactor

/// The cookie that tells which address of the upstream set the server's session cookie.
///
/// With each session cookie of the server, the gateway sets this cookie with the same attributes. So a browser sends both
/// together, and deletes both together, and the gateway needs to store nothing.
struct AddressCookie {
  /// The name of the server's cookie.
  private let serverCookie: String
  let name: String
  private static let digits = 4

  init(of serverCookie: String) {
    self.serverCookie = serverCookie
    name = "\(serverCookie)-address"
  }

  // MARK: Requests

  /// Returns the id in the cookie of a request; `nil` without a valid one.
  func id(_ bytes: Span<UInt8>, _ fields: HeadIndex) -> UInt16? {
    guard fields.has(.cookie) else { return nil }
    for field in fields where field.known == .cookie {
      if let id = id(bytes, field.value) { return id }
    }
    return nil
  }

  /// Returns the id in the `Cookie` fields of a request; `nil` without a valid one.
  func id(in headers: Headers) -> UInt16? {
    for value in headers.all("Cookie") {
      let bytes = FieldText.encode(value)
      if let id = id(bytes.span, 0..<bytes.count) { return id }
    }
    return nil
  }

  private func id(_ bytes: Span<UInt8>, _ cookie: Range<Int>) -> UInt16? {
    guard let value = CookieFilter.value(of: name, bytes, cookie), value.count == AddressCookie.digits else {
      return nil
    }
    var id: UInt16 = 0
    for index in value {
      guard let digit = bytes[index].hexadecimalValue else { return nil }
      id = id << 4 | UInt16(digit)
    }
    return id
  }

  // MARK: Responses

  /// Returns the values of the `Set-Cookie` fields to add to a response from the address with this id: one for each that
  /// sets the server's cookie.
  ///
  func values(
    for id: UInt16, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ configuration: ProxyConfiguration
  ) -> [[UInt8]] {
    guard fields.has(.setCookie) else { return [] }
    var values: [[UInt8]] = []
    for field in fields
    where field.known == .setCookie && CookieFilter.sets(serverCookie, bytes, field.value) {
      let hex = String(id, radix: 16)
      let padding = String(repeating: "0", count: AddressCookie.digits - hex.utf8.count)
      var value = Array("\(name)=\(padding)\(hex)".utf8)
      let attributes = field.value.drop { bytes[$0] != 0x3b }
      for index in attributes { value.append(bytes[index]) }
      if configuration.securesCookies, !CookieFilter.isSecure(bytes, field.value) { value += Array("; Secure".utf8) }
      if configuration.dropsForeignCookieDomains {
        value = CookieFilter.droppingForeignDomains(value.span, 0..<value.count, configuration.cookieHost)
      }
      values.append(value)
    }
    return values
  }
}
