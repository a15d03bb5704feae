/// A request head that has been parsed and validated: offsets into the bytes it was parsed from.
public struct RequestHead: Sendable {
  public let method: Method
  public let methodRange: Range<Int>
  /// The target in origin form; of an absolute-form target what follows the authority. Empty stands for `/`.
  public let target: Range<Int>
  /// The part of the target before the first `?`.
  public let path: Range<Int>
  /// What follows the first `?`.
  public let query: Range<Int>?
  /// `*` (only with OPTIONS).
  public let isAsterisk: Bool
  /// From the absolute-form target if there is one, else from the Host field (RFC 9112, section 3.2.2); `nil` for
  /// HTTP/1.0 without Host.
  public let host: Range<Int>?
  /// 0 or 1.
  public let minorVersion: Int
  /// Bytes of the head, the empty line included.
  public let length: Int
  public let body: BodyFraming
  /// True if the client lets the connection live on.
  public let keepsAlive: Bool
  public let expectsContinue: Bool
  /// The one protocol that an `Upgrade` field asks for together with the `upgrade` option.
  public let upgrade: Range<Int>?
}

/// How the end of a body is known (RFC 9112, section 6.3).
public enum BodyFraming: Equatable, Sendable {
  case none
  /// Bytes, above 0.
  case length(Int)
  case chunked
  /// Responses only.
  case untilClose
}
