import Reactor
import TLS

/// A server behind the proxy that follows a test's script and records the requests.
final class ScriptedUpstream {
  typealias Script = @Sendable (ScriptedUpstream, Peer) async throws -> Void

  private(set) var address: Address
  /// The requests that were read, in the order of their completion.
  var requests: [Message] = []
  /// Notes of the scripts.
  var notes: [String] = []
  private(set) var peers: [Peer] = []
  /// The number of responses that a script has counted.
  var answered = 0
  /// The number of scripts that have not ended.
  private(set) var running = 0

  var connections: Int { peers.count }

  /// Runs the script for each connection that a port accepts.
  convenience init(
    on worker: isolated Worker, host: String = "127.0.0.1", port: Int = 0, tls: TLSServer? = nil,
    _ script: @escaping Script
  ) throws {
    guard let any = Address(literal: host, port: port),
      let listener = try ListeningSocket.bind(any, count: 1, id: 0).first
    else { throw IOError.invalidArgument }
    try self.init(on: worker, listener, tls: tls, script)
  }

  /// Runs the script for each connection that a Unix socket accepts.
  convenience init(
    on worker: isolated Worker, unixSocket path: String, tls: TLSServer? = nil, _ script: @escaping Script
  ) throws {
    let place = UnixListener(path: path, mode: 0o600, owner: nil, peer: .unixSocket)
    guard let listener = try ListeningSocket.bind(place, count: 1, id: 1).first else { throw IOError.invalidArgument }
    try self.init(on: worker, listener, tls: tls, script)
  }

  private init(
    on worker: isolated Worker, _ listener: ListeningSocket, tls: TLSServer?, _ script: @escaping Script
  ) throws {
    address = listener.address
    let poller = worker.poller
    try worker.accept(listener, group: WorkerGroup([worker])) { socket, _ in
      let peer = Peer(socket, poller)
      self.peers.append(peer)
      self.running += 1
      poller.start(
        PeerTask {
          defer { self.running -= 1 }
          if let tls, (try? await peer.accept(tls)) == nil { return peer.close() }
          try? await script(self, peer)
          peer.close()
        })
    }
  }

  /// Reads the next request of `peer` and records it.
  func read(_ peer: Peer) async throws -> Message {
    let request = try await peer.readRequest()
    requests.append(request)
    return request
  }

  func closeAll() {
    for peer in peers { peer.close() }
  }

  /// Answers one request with a body of this many bytes.
  static func sending(_ count: Int) -> Script {
    { upstream, peer in
      // Made in advance: a pause between head and body would look like a slow upstream, and such tests have short
      // deadlines.
      let response = Array("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n".utf8)
      let whole = response + [UInt8](repeating: 0x61, count: count)
      _ = try await upstream.read(peer)
      try await peer.send(whole)
    }
  }

  /// Answers every request with 200 and its target.
  static let plain: Script = { upstream, peer in
    while true {
      let request = try await upstream.read(peer)
      let body = request.method == "HEAD" ? "" : request.target
      try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(request.target.utf8.count)\r\n\r\n\(body)")
    }
  }

  /// Answers every request with the same bytes.
  static func answering(_ response: String) -> Script {
    { upstream, peer in
      while true {
        _ = try await upstream.read(peer)
        try await peer.send(response)
      }
    }
  }

  /// Answers the first request with these bytes, then closes.
  static func closing(after response: String) -> Script {
    { upstream, peer in
      _ = try await upstream.read(peer)
      try await peer.send(response)
    }
  }
}
