/// The policy of a gateway that a test runs as a process.
struct ServedPolicy {
  var port: Int
  var adminPort: Int
  var upstreamPort: Int
  var workers = 1
  /// Lines below `gateway:`, each indented by two spaces.
  var gateway = ""
  /// The listener's TLS settings as written in the policy.
  var tls: String?
  var clientType = "public"
  /// The value of `upstream.pass`.
  var pass = "[/]"
  var name = "Example Mail"

  /// Uses three free ports; no server listens on the upstream's port.
  init() throws {
    let ports = try Ports.free(3)
    (port, adminPort, upstreamPort) = (ports[0], ports[1], ports[2])
  }

  var text: String {
    """
    version: 1
    gateway:
      origin: http://127.0.0.1:\(port)
      listeners:
        - { address: "127.0.0.1:\(port)"\(tls.map { ", tls: \($0)" } ?? "") }
      admin: 127.0.0.1:\(adminPort)
      workers: \(workers)
    \(gateway)
    upstream:
      url: http://127.0.0.1:\(upstreamPort)
      endpoints: { authorization: /authorize, token: /token, revocation: /revoke }
      pass: \(pass)
      completion_paths: []
    clients:
      - id: com.example.mail
        name: \(name)
        type: \(clientType)
        application: native
        redirect_uris: [com.example.mail:/cb]
        raw_refresh_until: never

    """
  }
}
