import Reactor
import TLS
import Time

/// The reason why a connection that tests an address was not established.
struct ConnectionTestFailure: Error {
  let text: String
}

/// Connections that test an address. They are not connections of the pool, and need no place.
extension UpstreamPool {
  /// Opens a connection to the address, with a TLS handshake if the upstream has TLS.
  ///
  /// Throws the reason if there is no connection at the deadline. The connection to a Unix socket whose queue is full
  /// fails immediately.
  func openTestConnection(
    to address: UpstreamAddress, with waiter: Waiter, until deadline: Deadline
  ) async throws(ConnectionTestFailure) -> Socket {
    let socket = try await connectForTest(to: address, with: waiter, until: deadline)
    guard let tls = settings.configuration.upstreamTLS else { return socket }
    do throws(TLSFailure) {
      try await tls.connect(socket, with: waiter, gate: handshakes, until: deadline)
      return socket
    } catch {
      socket.close()
      throw ConnectionTestFailure(text: "no TLS connection: \(error)")
    }
  }

  private func connectForTest(
    to address: UpstreamAddress, with waiter: Waiter, until deadline: Deadline
  ) async throws(ConnectionTestFailure) -> Socket {
    switch address.place {
    case .socket(let address):
      do throws(ConnectError) {
        return try await poller.connect(to: address, with: waiter, until: deadline)
      } catch {
        switch error {
        case .failed(let error): throw ConnectionTestFailure(text: error.description)
        case .timedOut, .clientDisconnected: throw ConnectionTestFailure(text: "no connection in time")
        }
      }
    case .unixSocket(let path):
      do throws(IOError) {
        return try poller.connect(toUnixSocket: path)
      } catch {
        throw ConnectionTestFailure(
          text: error == .wouldBlock ? "the server's queue of connections is full" : error.description)
      }
    }
  }
}
