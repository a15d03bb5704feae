public import HTTP
public import HTTP1
public import Reactor

/// A small HTTP/1.1 client for the demo and for tests: one connection for each request, to loopback addresses only.
///
/// Confined to the worker of its poller. Responses are held whole.
public final class LoopbackClient {
  public enum Failure: Error, Equatable, CustomStringConvertible {
    /// The address is not http on a loopback literal or `localhost`.
    case notLoopback(String)
    case connect(ConnectError)
    /// No whole response within the deadline.
    case timedOut
    /// The connection ended before the response was whole.
    case cutOff
    case malformed(MessageError)
    case tooLong

    public var description: String {
      switch self {
      case .notLoopback(let address): "\(address) is not an http address on loopback"
      case .connect(.timedOut), .timedOut: "no answer in time"
      case .connect(.abandoned): "nobody waits for the connection"
      case .connect(.failed(let error)): error.description
      case .cutOff: "the connection ended before the answer was whole"
      case .malformed(let error): error.description
      case .tooLong: "the answer is longer than \(LoopbackClient.bodyLimit) bytes"
      }
    }
  }

  /// More than any page or token response; a test that needs more streams.
  public static let bodyLimit = 1024 * 1024

  private let poller: Poller
  /// Milliseconds for a whole exchange.
  private let timeout: Int

  public init(_ poller: Poller, timeout: Int = 10_000) {
    self.poller = poller
    self.timeout = timeout
  }

  /// Sends a request to the server of `address` and waits for its whole answer. The request's own target counts, not the
  /// address's; `Host` is added unless it is there.
  public func send(_ address: WebAddress, _ request: Request) async throws(Failure) -> Response {
    let host = address.host == "localhost" ? "127.0.0.1" : address.host.filter { $0 != "[" && $0 != "]" }
    guard !address.isSecure, let target = Address(literal: host, port: address.port), target.isLoopback else {
      throw .notLoopback(address.origin)
    }
    let deadline = poller.deadline(after: timeout)
    let waiter = Waiter(poller)
    defer { waiter.retire() }
    let socket: Socket
    do throws(ConnectError) {
      socket = try await poller.connect(to: target, with: waiter, until: deadline)
    } catch {
      throw .connect(error)
    }
    defer { socket.close() }
    let exchange = LoopbackConnection(socket, waiter, poller.buffers, deadline)
    try await exchange.write(request, to: address)
    return try await exchange.read(isHead: request.method == "HEAD")
  }
}
