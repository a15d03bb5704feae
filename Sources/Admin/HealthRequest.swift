import HTTP1
public import Reactor
import Time

/// A request to the admin listener of a running gateway.
public enum HealthRequest {
  /// The answer of the gateway.
  public struct Answer: Equatable, Sendable {
    /// The status; 200 if the gateway is healthy.
    public let status: Int
    /// The body, as text.
    public let body: String
  }

  /// The reason why there is no answer.
  public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The connection failed.
    case connect(IOError)
    /// The answer was not complete at the deadline.
    case timedOut
    /// The listener sent something else than an HTTP response, or a response that is too long.
    case malformed

    /// A message for the operator.
    public var description: String {
      switch self {
      case .connect(let error): error.description
      case .timedOut: "no answer in time"
      case .malformed: "the answer is not that of a gateway"
      }
    }
  }

  /// The maximum length of an answer in bytes. That of `/readyz` has some hundred.
  private static let maximumLength = 64 * 1024

  /// Sends a GET request and waits for the end of the answer.
  ///
  /// - Parameters:
  ///   - path: The path, for example `/readyz`.
  ///   - address: The address of the listener.
  public static func send(
    _ path: String, to address: Address, on poller: Poller, until deadline: Deadline
  ) async throws(Failure) -> Answer {
    let waiter = Waiter(poller)
    defer { waiter.cancelDeadline() }
    let socket: Socket
    do throws(ConnectError) {
      socket = try await poller.connect(to: address, with: waiter, until: deadline)
    } catch {
      if case .failed(let error) = error { throw .connect(error) }
      throw .timedOut
    }
    defer { socket.close() }
    guard let buffer = poller.buffers.take() else { throw .connect(.noMemory) }
    defer { poller.buffers.wipeAndGiveBack(buffer) }
    // The server closes the connection of an HTTP/1.0 request after the answer.
    buffer.append("GET \(path) HTTP/1.0\r\nHost: \(address)\r\n\r\n")
    while !buffer.isEmpty {
      switch socket.send(buffer) {
      case .moved: continue
      case .wouldBlock: try check(await waiter.wait(socket, .writable, until: deadline))
      case .ended, .failed: throw .malformed
      }
    }
    var bytes: [UInt8] = []
    while bytes.count <= maximumLength {
      switch socket.receive(into: buffer) {
      case .moved:
        bytes += buffer.bytes(from: 0, count: buffer.count)
        buffer.consume(buffer.count)
      case .wouldBlock: try check(await waiter.wait(socket, .readable, until: deadline))
      case .ended, .failed:
        guard let answer = parse(bytes) else { throw .malformed }
        return answer
      }
    }
    throw .malformed
  }

  private static func check(_ wake: Wake) throws(Failure) {
    if wake == .timedOut { throw .timedOut }
  }

  /// Returns the answer that these bytes are; `nil` if they are not a complete head and a body.
  private static func parse(_ bytes: [UInt8]) -> Answer? {
    var scanner = HeadScanner()
    let length: Int?
    let status: Int
    do throws(MessageError) {
      length = try scanner.end(of: bytes.span)
      guard let length else { return nil }
      status = try ResponseHeadParser.parse(bytes.span, length: length, to: .get, into: HeadIndex()).status
    } catch {
      return nil
    }
    return length.map { Answer(status: status, body: String(decoding: bytes[$0...], as: UTF8.self)) }
  }
}
