internal import ByteText
internal import Compression
public import HTTP
import HTTP1
import Reactor
import Telemetry

/// A response of the upstream: its head, and a body that is still to be read.
public final class UpstreamResponse {
  /// The head: status and fields, without framing. The body is empty.
  public let head: Response
  let connection: UpstreamConnection
  /// The result of parsing the head, with the framing of the body.
  let parsed: ResponseHead
  /// False if the upstream answered before it had the whole request, or may leave the body of the request unread. Then
  /// the connection is not reused after the response.
  let requestAllowsReuse: Bool
  /// The time at which the body must be complete (`OutboundRequest.deadline`).
  private let deadline: Deadline
  private let clientConnection: ServerConnection
  /// True once `collect` or the caller of `takeConnection` is responsible for the connection.
  private var isTaken = false

  init(
    _ head: Response, _ connection: UpstreamConnection, _ parsed: ResponseHead, requestAllowsReuse: Bool,
    until deadline: Deadline, _ clientConnection: ServerConnection
  ) {
    self.head = head
    self.connection = connection
    self.parsed = parsed
    self.requestAllowsReuse = requestAllowsReuse
    self.deadline = deadline
    self.clientConnection = clientConnection
  }

  /// The length of the body in bytes; `nil` if it is not announced.
  public var length: Int? {
    switch parsed.body {
    case .none: 0
    case .length(let count): count
    case .chunked, .untilClose: nil
    }
  }

  /// The values of the fields that redirect a browser: Location, Refresh and Content-Location.
  public var locations: [String] {
    LocationRewriter.locationNames.flatMap { head.headers.all($0) }
  }

  /// The values of the `Link` fields.
  public var links: [String] { head.headers.all("Link") }

  deinit {
    // The body was neither read nor relayed, so the connection cannot be reused.
    if !isTaken { clientConnection.worker.pool.retire(connection) }
  }

  /// Passes the connection to the caller, which streams the body.
  func takeConnection() -> UpstreamConnection {
    isTaken = true
    return connection
  }

  /// Reads the whole body. Throws `malformed` if it is longer than `ProxyConfiguration.collectedBodyLimit` bytes, its
  /// framing is malformed, or there is no memory for it; throws `reset` or `responseTimeout` if it does not arrive, and
  /// `outOfMemory` if there is no buffer for it.
  public func collect() async throws(UpstreamFailure) -> [UInt8] {
    let worker = clientConnection.worker
    let failure: UpstreamFailure
    do throws(ReadFailure) {
      return try await readAll()
    } catch {
      switch error {
      case .upstream(let error): failure = error
      case .tooLong(let limit): failure = .malformed("a body longer than \(limit) bytes")
      case .noMemory:
        worker.metrics.recordLimit(.bufferMemory)
        failure = .malformed("a body for which `max_buffer_memory` leaves no room")
      }
    }
    worker.metrics.upstreamFailed(failure)
    clientConnection.reportUpstreamFailure(failure, nil)
    throw failure
  }

  /// True if the client may set the pace at which the body is relayed: it holds no connection that others need
  /// (`UpstreamPool.mayKeepForRelay`), or there is no body. Otherwise the body has to be collected.
  var mayRelayAtPaceOfClient: Bool { length == 0 || clientConnection.worker.pool.mayKeepForRelay(to: clientConnection) }

  /// Reads the whole body at the pace of the upstream, for a client that may not hold the connection.
  ///
  /// Throws `overloaded` if the body is longer than `ProxyConfiguration.collectedBodyLimit` bytes or there is no memory
  /// for it: only a client that holds the connection could get such a body.
  func collectForRelay() async throws(ProxyFailure) -> [UInt8] {
    do throws(ReadFailure) {
      return try await readAll()
    } catch {
      switch error {
      case .upstream(let error):
        clientConnection.worker.metrics.upstreamFailed(error)
        throw .upstream(error)
      case .tooLong: throw .overloaded(.upstreamConnections)
      case .noMemory: throw .overloaded(.bufferMemory)
      }
    }
  }

  /// The reason why a body was not read to its end.
  private enum ReadFailure: Error {
    case upstream(UpstreamFailure)
    /// The body has more than `limit` bytes.
    case tooLong(limit: Int)
    /// `max_buffer_memory` leaves no room for the body.
    case noMemory
  }

  /// Reads the whole body and gives the connection back; closes it if the body cannot be read.
  private func readAll() async throws(ReadFailure) -> [UInt8] {
    isTaken = true
    let pool = clientConnection.worker.pool
    let body: [UInt8]
    do throws(ReadFailure) {
      body = try await read(clientConnection.worker)
    } catch {
      pool.retire(connection)
      throw error
    }
    releaseBuffer()
    if parsed.keepsAlive, requestAllowsReuse { pool.giveBack(connection) } else { pool.retire(connection) }
    return body
  }

  /// Reads the whole body like `collect`, and decodes its content coding: some servers compress although the request
  /// does not accept it.
  ///
  /// Throws what `collect` throws. Also throws `malformed` for an unsupported coding, a damaged body, or a body that is
  /// too large or does not fit into memory when it is decoded.
  public func content() async throws(UpstreamFailure) -> [UInt8] {
    let body = try await collect()
    do throws(CompressionError) {
      guard let coding = try ContentCoding.parse(contentEncoding: head.headers.all("Content-Encoding")) else {
        return body
      }
      let limit = clientConnection.worker.settings.configuration.collectedBodyLimit
      let content = try Decoder.decode(body, coding, limit: limit)
      guard clientConnection.charge(content.count) else {
        clientConnection.worker.metrics.recordLimit(.bufferMemory)
        throw .outOfMemory
      }
      return content
    } catch {
      let failure = UpstreamFailure.malformed(error.description)
      clientConnection.worker.metrics.upstreamFailed(failure)
      clientConnection.reportUpstreamFailure(failure, nil)
      throw failure
    }
  }

  private func read(_ worker: ProxyWorker) async throws(ReadFailure) -> [UInt8] {
    var collected = CollectedBody(parsed.body)
    let deadline = min(deadline, worker.poller.deadline(after: worker.settings.configuration.bodyTimeout))
    while !collected.isFinished {
      let input = connection.input
      if !input.isEmpty {
        let before = collected.data.count
        do throws(MessageError) {
          let consumed = try input.withSpan { (bytes: Span<UInt8>) throws(MessageError) in try collected.decode(bytes) }
          input.consume(consumed)
        } catch {
          throw .upstream(.malformed(error.description))
        }
        guard clientConnection.charge(collected.data.count - before) else { throw .noMemory }
        let limit = worker.settings.configuration.collectedBodyLimit
        guard collected.data.count <= limit else { throw .tooLong(limit: limit) }
        continue
      }
      // A server that sends fast would otherwise keep the worker until its response is complete.
      if connection.socket.satisfies(.readable) { await clientConnection.yieldInLongTurn() }
      if await clientConnection.waiter.wait(connection.socket, .readable, until: deadline) == .timedOut {
        throw .upstream(.responseTimeout)
      }
      switch connection.receive() {
      case .moved, .wouldBlock: continue
      case .ended:
        guard collected.endsCompletely() else { throw .upstream(.reset) }
      case .failed(.noMemory): throw .upstream(.outOfMemory(afterSending: true))
      case .failed: throw .upstream(.reset)
      }
    }
    return collected.data
  }

  private func releaseBuffer() {
    // The buffer may have held secrets, namely tokens.
    if connection.input.isEmpty { clientConnection.buffers.wipeAndGiveBack(connection.input) }
  }
}
