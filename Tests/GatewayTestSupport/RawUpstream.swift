import Reactor
import Synchronization
import Time

/// An upstream that sends arbitrary bytes or nothing: for behaviour that no HTTP server has.
public final class RawUpstream: Sendable {
  /// The behaviour of the upstream after it has received a request.
  public enum Answer: Sendable {
    /// Sends the bytes and ends the connection.
    case bytes(String)
    /// Sends the first text at once and then one byte of the second every 20 ms.
    case drip(String, String)
    /// Resets the connection after the whole request has arrived.
    case reset
    /// Reads and never responds.
    case silence
  }

  /// The TCP port on 127.0.0.1, chosen by the kernel.
  public let port: Int
  private let worker: Worker
  private let received = Mutex<[String]>([])

  /// Throws `IOError`.
  public init(_ answer: Answer) async throws {
    guard let address = Address(literal: "127.0.0.1", port: 0) else { throw IOError.invalidArgument }
    let listener = try ListeningSocket.bind(address, count: 1, id: 0)
    port = listener.first?.address.port ?? 0
    worker = try Worker(index: 0)
    try worker.start(name: "raw")
    let group = WorkerGroup([worker])
    for socket in listener {
      try await worker.perform { (worker: isolated Worker) throws(IOError) in
        let poller = worker.poller
        try worker.accept(socket, group: group) { socket, _ in
          poller.start(Conversation(socket, poller, answer, self))
        }
      }
    }
  }

  /// The requests so far: head and body as received.
  public var requests: [String] { received.withLock { $0 } }

  /// Stops accepting, ends all connections and stops the thread.
  public func stop() async {
    await worker.stopAccepting()
    await worker.drain()
    await worker.abortConnections()
    await worker.stop()
  }

  private func note(_ request: String) { received.withLock { $0.append(request) } }

  private final class Conversation: Activity {
    private let socket: Socket
    private let poller: Poller
    private let answer: Answer
    private let owner: RawUpstream

    init(_ socket: Socket, _ poller: Poller, _ answer: Answer, _ owner: RawUpstream) {
      self.socket = socket
      self.poller = poller
      self.answer = answer
      self.owner = owner
    }

    func run() async {
      let waiter = Waiter(poller)
      guard let buffer = poller.buffers.take() else { return socket.close() }
      defer {
        waiter.cancelDeadline()
        poller.buffers.giveBack(buffer)
        socket.close()
      }
      var text = ""
      while !isWhole(text) {
        switch socket.receive(into: buffer) {
        case .moved:
          text += String(decoding: buffer.bytes(from: 0, count: buffer.count), as: UTF8.self)
          buffer.clear()
        case .wouldBlock: _ = await waiter.wait(socket, .readable, until: .never)
        case .ended, .failed: return
        }
      }
      owner.note(text)
      switch answer {
      case .reset: socket.reset()
      case .silence:
        // Wait until the gateway ends the connection.
        while true {
          switch socket.receive(into: buffer) {
          case .moved: buffer.clear()
          case .wouldBlock: _ = await waiter.wait(socket, .readable, until: .never)
          case .ended, .failed: return
          }
        }
      case .bytes(let bytes):
        buffer.append(bytes)
        _ = await send(buffer, waiter)
      case .drip(let start, let rest):
        buffer.append(start)
        guard await send(buffer, waiter) else { return }
        for character in rest {
          await poller.pause(20)
          buffer.append(String(character))
          guard await send(buffer, waiter) else { return }
        }
      }
    }

    /// Sends all bytes. Returns false if the gateway has ended the connection.
    private func send(_ buffer: Buffer, _ waiter: Waiter) async -> Bool {
      while !buffer.isEmpty {
        switch socket.send(buffer) {
        case .moved: continue
        case .wouldBlock: _ = await waiter.wait(socket, .writable, until: .never)
        case .ended, .failed: return false
        }
      }
      return true
    }

    /// True if the text contains a complete head and as many body bytes as its Content-Length, or the end of its chunks.
    private func isWhole(_ text: String) -> Bool {
      guard let end = text.firstRange(of: "\r\n\r\n") else { return false }
      let lines = text[..<end.lowerBound].split(separator: "\r\n")
      if lines.contains(where: { $0.lowercased() == "transfer-encoding: chunked" }) {
        let body = text[end.upperBound...]
        return (body.hasPrefix("0\r\n") || body.contains("\r\n0\r\n")) && body.hasSuffix("\r\n\r\n")
      }
      let length = lines.compactMap { line -> Int? in
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "content-length" else { return nil }
        return Int(parts[1].drop { $0 == " " })
      }
      return text[end.upperBound...].utf8.count >= length.first ?? 0
    }
  }
}
