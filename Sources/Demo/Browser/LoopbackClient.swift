public import HTTP
public import HTTP1
public import LegacyServer
public import Reactor
public import Time

/// A small HTTP/1.1 client for the demo and for tests. It connects only to loopback addresses, opens a new connection
/// for each request, and keeps the whole response in memory.
///
/// Use the client only on the worker that its poller belongs to.
public final class LoopbackClient {
  /// An error of one request.
  public enum Failure: Error, Equatable, CustomStringConvertible {
    /// The address is not an http URL with a loopback address or `localhost` as its host.
    case notLoopback(String)
    case connect(ConnectError)
    /// The response was not complete at the deadline.
    case timedOut
    /// The connection ended before the response was complete.
    case incomplete
    case malformed(MessageError)
    /// The body of the response is longer than ``LoopbackClient/bodyLimit``.
    case tooLong

    /// A message for the user.
    public var description: String {
      switch self {
      case .notLoopback(let address): "\(address) is not an http address on loopback"
      case .connect(.timedOut), .timedOut: "no response in time"
      case .connect(.clientDisconnected): "the connection attempt was abandoned"
      case .connect(.failed(let error)): error.description
      case .incomplete: "the connection ended before the response was complete"
      case .malformed(let error): error.description
      case .tooLong: "the response is longer than \(LoopbackClient.bodyLimit) bytes"
      }
    }
  }

  /// The maximum length of a response body, in bytes. Pages and token responses are much shorter.
  public static let bodyLimit = 1024 * 1024

  private let poller: Poller
  /// The maximum time for a request and its response.
  private let timeout: Milliseconds

  /// Creates a client. A request and its response may take the time `timeout`.
  public init(_ poller: Poller, timeout: Milliseconds = 10_000) {
    self.poller = poller
    self.timeout = timeout
  }

  /// Sends a request to the server at `address` and waits for the complete response. The path and query are those of
  /// the request, not of `address`. Adds a `Host` field if the request has none.
  public func send(_ address: WebAddress, _ request: Request) async throws(Failure) -> Response {
    let host = address.host == "localhost" ? "127.0.0.1" : address.host.filter { $0 != "[" && $0 != "]" }
    guard !address.isSecure, let target = Address(literal: host, port: address.port), target.isLoopback else {
      throw .notLoopback(address.origin)
    }
    let deadline = poller.deadline(after: timeout)
    let waiter = Waiter(poller)
    defer { waiter.cancelDeadline() }
    let socket: Socket
    do throws(ConnectError) {
      socket = try await poller.connect(to: target, with: waiter, until: deadline)
    } catch {
      throw .connect(error)
    }
    defer { socket.close() }
    let connection = LoopbackConnection(socket, waiter, poller.buffers, deadline)
    try await connection.write(request, to: address)
    return try await connection.readResponse(isHeadRequest: request.method == "HEAD")
  }
}
