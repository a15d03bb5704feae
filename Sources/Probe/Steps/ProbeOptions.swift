import OAuth
import Policy

/// The operator's input of a probe.
package struct ProbeOptions: Sendable {
  /// The server.
  package var target: ProbeTarget
  /// The path of the authorization endpoint, if the operator knows it.
  package var authorization: String?
  package var token: String?
  /// A client of the server.
  package var clientID: String?
  package var clientSecret: Secret?
  package var redirectURI: String?
  package var scope: String?
  /// The public URL of the gateway, if the operator names it.
  package var gateway: Origin?

  package init(_ target: ProbeTarget) {
    self.target = target
  }
}
