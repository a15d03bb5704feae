internal import Bytes

/// A request that is handled whole: its head has been validated and its body read.
public struct Request: Sendable {
  /// Case-sensitive (RFC 9110, section 9.1).
  public var method: String
  /// The path and query in origin form, exactly as received, e.g. `/authorize?client_id=a`.
  public var target: String
  public var headers: Headers
  public var body: [UInt8]
  public var peer: Peer
  /// The number of the request in its worker, by which the lines of the log about it find each other.
  public var number: UInt64

  public init(
    method: String, target: String, headers: Headers = Headers(), body: [UInt8] = [], peer: Peer = Peer(),
    number: UInt64 = 0
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
    self.peer = peer
    self.number = number
  }

  /// The target up to the first question mark.
  public var path: Substring {
    target[..<(mark ?? target.endIndex)]
  }

  /// What follows the first question mark; `nil` when there is none.
  public var query: Substring? {
    guard let mark else { return nil }
    return target[target.utf8.index(after: mark)...]
  }

  /// Of bytes: next to a combining mark a question mark is no character of its own, and still ends the path.
  private var mark: String.Index? {
    let bytes = target.utf8.span
    return bytes.firstIndex(of: UInt8(ascii: "?")).map { target.utf8.index(target.startIndex, offsetBy: $0) }
  }
}

/// Who is at the other end, as far as it is believed: after `trusted_proxies` were taken into account.
public struct Peer: Sendable {
  /// The client's address as text, e.g. `192.0.2.1` or `2001:db8::1`.
  public var address: String
  /// True if the client's hop is TLS, or a trusted proxy says so.
  public var isSecure: Bool
  /// True if the client itself is on a loopback address: never so behind a trusted proxy.
  public var isLoopback: Bool

  public init(address: String = "127.0.0.1", isSecure: Bool = false, isLoopback: Bool = true) {
    self.address = address
    self.isSecure = isSecure
    self.isLoopback = isLoopback
  }
}
