import Reactor
import Testing

/// Loopback ports for a child process.
enum Ports {
  /// Ports that were free a moment ago.
  static func free(_ count: Int) throws -> [Int] {
    let sockets = try (0..<count).map { _ in try taken() }
    defer { for socket in sockets { socket.close() } }
    return sockets.map(\.address.port)
  }

  /// A port that stays in use until the socket is closed.
  static func taken() throws -> ListeningSocket {
    let address = try #require(Address(literal: "127.0.0.1", port: 0))
    return try #require(try ListeningSocket.bind(address, count: 1, id: 0).first)
  }
}
