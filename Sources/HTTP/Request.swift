internal import ByteText

/// A request that is in memory as a whole. Its head has been validated, and its body has been received completely.
public struct Request: Sendable {
  /// The method; case-sensitive (RFC 9110, section 9.1).
  public var method: String
  /// The path and query in origin form, exactly as received, e.g. `/authorize?client_id=a`.
  public var target: String
  /// The header fields.
  public var headers: Headers
  /// The body without its transfer coding; empty if the request has no body.
  public var body: [UInt8]
  /// The client that sent the request.
  public var peer: Peer
  /// The facts from which the id of the request follows.
  public var reference: RequestReference

  /// Creates a request.
  public init(
    method: String, target: String, headers: Headers = Headers(), body: [UInt8] = [], peer: Peer = Peer(),
    reference: RequestReference = RequestReference()
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
    self.peer = peer
    self.reference = reference
  }

  /// The target up to the first question mark.
  public var path: Substring {
    target[..<(questionMark ?? target.endIndex)]
  }

  /// The target after the first question mark; `nil` without a question mark.
  public var query: Substring? {
    guard let questionMark else { return nil }
    return target[target.utf8.index(after: questionMark)...]
  }

  /// The position of the first question mark. The search compares bytes, because a question mark also ends the path if
  /// a combining mark follows it, although both then form one `Character`.
  private var questionMark: String.Index? {
    let bytes = target.utf8.span
    return bytes.firstIndex(of: UInt8(ascii: "?")).map { target.utf8.index(target.startIndex, offsetBy: $0) }
  }
}

/// The client of a request. If a trusted proxy sent the request, this is the client that the proxy names.
public struct Peer: Sendable {
  /// The client's address as text, e.g. `192.0.2.1` or `2001:db8::1`.
  public var address: String
  /// True if the client uses TLS, either directly or according to a trusted proxy.
  public var isSecure: Bool
  /// True if the client has a loopback address. False for every client that a trusted proxy names.
  public var isLoopback: Bool

  /// Creates a client. The default is a client on this machine that does not use TLS.
  public init(address: String = "127.0.0.1", isSecure: Bool = false, isLoopback: Bool = true) {
    self.address = address
    self.isSecure = isSecure
    self.isLoopback = isLoopback
  }
}
