/// The state of one server connection, and all of its transitions.
///
/// Theory of operation. A connection carries exchanges one after the other. In an exchange, a request is received and
/// its response is sent. The two may overlap, and a response may end before its request (e.g. a response that refuses
/// the request). A response is cut if its head was sent but the rest cannot be sent. The next step of the connection
/// depends on the states of request and response, so both are recorded here. The first table shows the new states after
/// each event, the second table the next step:
///
///     event                      request      response
///     receivedHead               receiving    awaited      (request complete if it has no body)
///     receivedBody               complete
///     startedResponse                         sending
///     finishedResponse                        complete
///     cutResponse                             cut          (only while sending)
///
///     request     response      next step
///     complete    complete      next head, if both sides keep the connection alive, else close
///     receiving   complete      drain and close: end the sending side, discard a bounded part of the body, close
///     any         sending, cut  reset, so that the client does not accept a partial response
///     any         awaited       close, because no part of a response was sent
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

  /// The next step of the connection after an exchange.
  public enum Next: Equatable, Sendable {
    case readHead
    case close
    case drainAndClose
    case reset
  }

  private var request = RequestSide.complete
  private var response = ResponseSide.awaited
  /// True if both sides let the connection stay open after this exchange.
  private var keepsAlive = true
  /// The number of request heads received on this connection.
  public private(set) var requestCount = 0

  /// The state of a new connection.
  public init() {}

  /// Records that a request head was read. `keepsAlive` is true if the client lets the connection stay open.
  public mutating func receivedHead(hasBody: Bool, keepsAlive: Bool) {
    requestCount += 1
    request = hasBody ? .receiving : .complete
    response = .awaited
    self.keepsAlive = keepsAlive
  }

  /// Records that the last byte of the request body was read.
  public mutating func receivedBody() {
    request = .complete
  }

  /// Records that the head of the response is about to be sent. Afterwards the response can only be finished or cut.
  public mutating func startedResponse() {
    response = .sending
  }

  /// Makes the connection end after this exchange. Call it before the response head is written, because that head
  /// announces the end (`announcesKeepAlive`).
  public mutating func refuseFurtherRequests() {
    keepsAlive = false
  }

  /// Records that the last byte of the response was sent.
  public mutating func finishedResponse() {
    response = .complete
  }

  /// Records that the response cannot be completed. Does nothing before the response has begun and after it has ended.
  public mutating func cutResponse() {
    if response == .sending { response = .cut }
  }

  /// True if the whole request has been received.
  public var isRequestComplete: Bool { request == .complete }
  /// True if the response has begun.
  public var hasStartedResponse: Bool { response != .awaited }

  /// True if the response should announce that the connection stays open.
  ///
  /// False as long as the request is incomplete, because the response may end before the request, and the connection
  /// must then close.
  public var announcesKeepAlive: Bool { keepsAlive && request == .complete }

  /// The next step after the exchange, as in the table above.
  public var next: Next {
    switch (request, response) {
    case (_, .cut), (_, .sending): .reset
    case (.complete, .complete): keepsAlive ? .readHead : .close
    case (.receiving, .complete): .drainAndClose
    case (_, .awaited): .close
    }
  }
}
