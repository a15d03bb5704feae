import HTTP
import LegacyServer

extension Request {
  /// Creates a POST with form parameters, as an app sends it to an endpoint of an authorization server.
  init(posting parameters: Form, to address: WebAddress) {
    self.init(
      method: "POST", target: address.target,
      headers: [
        "Host": address.authority, "Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded",
      ], body: Array(parameters.encoded.utf8))
  }

  /// Creates a GET with an access token (RFC 6750, section 2.1).
  init(getting address: WebAddress, with token: String) {
    self.init(
      method: "GET", target: address.target,
      headers: ["Host": address.authority, "Authorization": "Bearer \(token)", "Accept": "application/json"])
  }
}
