import Cryptography
import OAuth
import Policy
import Reactor
import TLS
import Time

/// An HTTP/1.1 client of the probe, with a new connection for each request. Used only on the worker of its poller.
package final class ProbeClient: ProbeTransport {
  /// The limits of a client.
  package struct Limits: Sendable {
    /// The maximum time for a request and its response.
    package var timeout: Milliseconds
    /// The pause between two requests.
    package var pause: Milliseconds
    /// The `User-Agent` field.
    package var userAgent: String

    package init(timeout: Milliseconds, pause: Milliseconds, userAgent: String) {
      self.timeout = timeout
      self.pause = pause
      self.userAgent = userAgent
    }
  }

  private let poller: Poller
  private let target: ProbeTarget
  private let limits: Limits
  private let tls: TLSClient?
  private let resolver: Resolver
  private let handshakes: HandshakeGate
  private var isFirst = true
  /// The address of the latest connection.
  package private(set) var address: Address?

  /// Creates a client. Throws `TLSError` if the name of the server cannot be verified.
  ///
  /// - Parameter authorities: The issuers of the server's certificate; not used for http.
  package init(
    _ poller: Poller, _ target: ProbeTarget, authorities: CertificateChain?, limits: Limits
  ) throws(TLSError) {
    self.poller = poller
    self.target = target
    self.limits = limits
    if target.origin.scheme == .https, let authorities {
      tls = try TLSClient(name: target.origin.host, authorities: authorities)
    } else {
      tls = nil
    }
    resolver = Resolver(host: target.origin.host, port: target.origin.port)
    handshakes = HandshakeGate(poller)
  }

  package func send(_ request: ProbeRequest) async throws(ProbeFailure) -> ProbeAnswer {
    guard target.origin.scheme == .http || tls != nil else {
      throw .tls(.untrusted("no authorities are known on this machine"))
    }
    if !isFirst { await poller.pause(limits.pause) }
    isFirst = false
    let deadline = poller.deadline(after: limits.timeout)
    let waiter = Waiter(poller)
    defer { waiter.cancelDeadline() }
    let socket = try await connect(waiter, deadline)
    defer { socket.close() }
    if let tls {
      do throws(TLSFailure) {
        try await tls.connect(socket, with: waiter, gate: handshakes, until: deadline)
      } catch {
        throw .tls(error)
      }
    }
    let connection = ProbeConnection(socket, waiter, poller.buffers, deadline)
    try await connection.write(head(of: request), request.body)
    return try await connection.read()
  }

  private func connect(_ waiter: Waiter, _ deadline: Deadline) async throws(ProbeFailure) -> Socket {
    let addresses: [Address]
    switch await resolver.resolve(on: poller, until: deadline) {
    case .success(let found)?: addresses = found
    case .failure(let error)?: throw .lookUp("\(error)")
    case nil: throw .timedOut
    }
    var problem = "no address"
    for address in addresses {
      do throws(ConnectError) {
        let socket = try await poller.connect(to: address, with: waiter, until: deadline)
        self.address = address
        return socket
      } catch {
        guard case .failed(let reason) = error else { throw .timedOut }
        problem = "\(address): \(reason)"
      }
    }
    throw .connection(problem)
  }

  private func head(of request: ProbeRequest) -> [UInt8] {
    var text = """
      \(request.method.rawValue) \(request.target) HTTP/1.1\r\nHost: \(request.host ?? target.origin.authority)\r\n\
      User-Agent: \(limits.userAgent)\r\nAccept: text/html, application/json\r\nAccept-Encoding: identity\r\n
      """
    if let authorization = request.authorization { text += "Authorization: \(authorization.reveal())\r\n" }
    if request.method == .post {
      text += "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(request.body.count)\r\n"
    }
    return Array((text + "Connection: close\r\n\r\n").utf8)
  }
}
