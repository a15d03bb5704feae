/// The state of one server connection, and all of its transitions.
///
/// Theory of operation. A connection carries exchanges one after the other. In an exchange the request is received and
/// the response is sent. The two may overlap, and a response may end before its request (a refusal, an early error).
/// The next step depends on both sides, so neither the reading nor the writing code decides it:
///
///     event                      request      response
///     receivedHead               receiving    awaited      (complete at once without a body)
///     receivedBody               complete
///     startedResponse                         sending
///     finishedResponse                        complete
///     cutResponse                             cut          (only while sending)
///
///     request     response      next step
///     complete    complete      next head, if both sides keep the connection alive, else close
///     receiving   complete      the rest of the body is not needed: end the sending side, drain a bounded part, close
///     any         sending, cut  reset, so that the client does not accept a partial response
///     any         awaited       close: no part of a response was sent
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
  private var keepsAlive = true
  /// The number of request heads received on this connection.
  public private(set) var requests = 0

  /// The state of a new connection.
  public init() {}

  /// Records that a head was read. `keepsAlive` is true if the client lets the connection stay open.
  public mutating func receivedHead(hasBody: Bool, keepsAlive: Bool) {
    requests += 1
    request = hasBody ? .receiving : .complete
    response = .awaited
    self.keepsAlive = keepsAlive
  }

  /// Records that the last byte of the request body was read.
  public mutating func receivedBody() {
    request = .complete
  }

  /// Records that the response begins, because its head is about to be sent. Afterwards the response can only be
  /// finished or cut.
  public mutating func startedResponse() {
    response = .sending
  }

  /// Makes the connection end after this exchange. A response head that is written afterwards announces this.
  public mutating func refuseFurtherRequests() {
    keepsAlive = false
  }

  /// Records that the last byte of the response was sent.
  public mutating func finishedResponse() {
    response = .complete
  }

  /// Records that a started response cannot be completed. Has no effect unless the response is being sent.
  public mutating func cutResponse() {
    if response == .sending { response = .cut }
  }

  /// True if the whole request has been received.
  public var isRequestComplete: Bool { request == .complete }
  /// True if the response has begun.
  public var hasStartedResponse: Bool { response != .awaited }

  /// True if the response should announce that the connection stays open.
  ///
  /// A response that begins before its whole request was read may also end before the request does, and then the
  /// connection must close.
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
