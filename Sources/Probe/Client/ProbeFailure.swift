import TLS

/// The reason why a request of the probe has no response.
package enum ProbeFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// The name of the host has no address.
  case lookUp(String)
  /// The server accepts no connection.
  case connection(String)
  case tls(TLSFailure)
  /// The response was not complete in time.
  case timedOut
  /// The connection ended before the response was complete.
  case incomplete
  /// The response is not HTTP/1.1, or has two readings.
  case malformed(String)

  /// True if the server sent nothing.
  var isSilence: Bool {
    switch self {
    case .lookUp, .connection, .tls, .timedOut: true
    case .incomplete, .malformed: false
    }
  }

  /// The reason, and what to do if it is known.
  package var description: String {
    switch self {
    case .lookUp(let reason): "\(reason); is the name right?"
    case .connection(let reason): "no connection: \(reason); does the server run, and is the port right?"
    case .tls(.untrusted(let reason)):
      "the certificate is not trusted: \(reason); name the authority of the server with `--ca`"
    case .tls(.refused(let reason)): "the TLS handshake failed: \(reason); does the server speak http on this port?"
    case .tls(let failure): "\(failure)"
    case .timedOut: "no complete answer in time; is the server busy? `--timeout` allows more"
    case .incomplete: "the connection ended before the answer was complete; does the server speak https on this port?"
    case .malformed(let reason): "the answer is not strict HTTP/1.1: \(reason); the gateway would refuse it with 502"
    }
  }
}
