/// The state of one server connection, and all of its transitions.
///
/// Theory of operation. A connection carries exchanges one after the other. In an exchange the request is received and
/// the response is sent, and the two overlap: a response may end before its request has (a refusal, an early error).
/// What may follow depends on both sides, so neither the code that reads nor the code that writes decides it:
///
///     event                      request      response
///     receivedHead               receiving    awaited      (complete at once without a body)
///     receivedBody               complete
///     startedResponse                         sending
///     finishedResponse                        complete
///     cutResponse                             cut
///
///     request     response    what follows
///     complete    complete    next head, if both sides keep the connection alive, else close
///     receiving   complete    the rest of the body is of no use: say that nothing more comes, drain a bounded part, close
///     any         cut         reset, so that the part that was sent cannot pass for the whole
///     any         awaited     close: nothing was promised
public struct ConnectionState: Sendable {
  private enum RequestSide {
    case receiving
    case complete
  }

  private enum ResponseSide {
    case awaited
    case sending
    case complete
    case cut
  }

  /// What the driver does after an exchange.
  public enum Next: Equatable, Sendable {
    case readHead
    case close
    case drainAndClose
    case reset
  }

  private var request = RequestSide.complete
  private var response = ResponseSide.awaited
  private var keepsAlive = true
  /// Heads received on this connection.
  public private(set) var requests = 0

  public init() {}

  /// A head was read; `keepsAlive` is the client's wish.
  public mutating func receivedHead(hasBody: Bool, keepsAlive: Bool) {
    requests += 1
    request = hasBody ? .receiving : .complete
    response = .awaited
    self.keepsAlive = keepsAlive
  }

  /// The last byte of the request's body was read.
  public mutating func receivedBody() {
    request = .complete
  }

  /// The first byte of the response was sent. From here on the exchange can only be finished or cut.
  public mutating func startedResponse() {
    response = .sending
  }

  /// Nothing more may be asked on this connection: the head of a response is about to say so.
  public mutating func refuseFurtherRequests() {
    keepsAlive = false
  }

  public mutating func finishedResponse() {
    response = .complete
  }

  /// The response cannot be completed.
  public mutating func cutResponse() {
    if response == .sending { response = .cut }
  }

  public var isRequestComplete: Bool { request == .complete }
  public var hasStartedResponse: Bool { response != .awaited }

  /// True if the response should announce that the connection stays open.
  ///
  /// A response that begins before its request has been read may end before it, and then the connection has to go.
  public var announcesKeepAlive: Bool { keepsAlive && request == .complete }

  public var next: Next {
    switch (request, response) {
    case (_, .cut), (_, .sending): .reset
    case (.complete, .complete): keepsAlive ? .readHead : .close
    case (.receiving, .complete): .drainAndClose
    case (_, .awaited): .close
    }
  }
}
