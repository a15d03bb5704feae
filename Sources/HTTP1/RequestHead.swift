/// A parsed and validated request head. Its ranges are offsets into the bytes from which it was parsed.
public struct RequestHead: Sendable {
  /// A range of the head. 16 bits are enough for each offset (`HeadIndex.parseFields`), and the value is copied several
  /// times for each request.
  private struct Part {
    let start: UInt16
    let end: UInt16

    init(_ range: Range<Int>) {
      start = UInt16(range.lowerBound)
      end = UInt16(range.upperBound)
    }

    var range: Range<Int> { Int(start)..<Int(end) }
  }

  /// The request method.
  public let method: Method
  private let methodPart: Part
  private let targetPart: Part
  private let pathEnd: UInt16
  private let hostPart: Part?
  private let upgradePart: Part?
  private let headLength: UInt16
  private let minor: UInt8
  /// True if the target contains `"`, `<`, `>` or bytes from 0x80 (`HeadLimits.acceptsUnencodedTargets`).
  public let hasUnencodedTarget: Bool
  /// True if the target was sent as `*` (only with OPTIONS); false for an empty target.
  public let isAsterisk: Bool
  /// True if the client lets the connection stay open after this request.
  public let keepsAlive: Bool
  /// True if the client waits for `100 Continue` before it sends the body (RFC 9110, section 10.1.1).
  public let expectsContinue: Bool
  /// The framing of the body.
  public let body: BodyFraming

  init(
    method: Method, methodRange: Range<Int>, target: Range<Int>, pathEnd: Int, isAsterisk: Bool,
    hasUnencodedTarget: Bool, host: Range<Int>?, minorVersion: Int, length: Int, body: BodyFraming, keepsAlive: Bool,
    expectsContinue: Bool, upgrade: Range<Int>?
  ) {
    self.method = method
    methodPart = Part(methodRange)
    targetPart = Part(target)
    self.pathEnd = UInt16(pathEnd)
    hostPart = host.map { Part($0) }
    upgradePart = upgrade.map { Part($0) }
    headLength = UInt16(length)
    minor = UInt8(minorVersion)
    self.isAsterisk = isAsterisk
    self.hasUnencodedTarget = hasUnencodedTarget
    self.keepsAlive = keepsAlive
    self.expectsContinue = expectsContinue
    self.body = body
  }

  /// The range of the method's name, which is needed if `method` is `other`.
  public var methodRange: Range<Int> { methodPart.range }
  /// The target in origin form, or `*`. A target in absolute form is reduced to the part after its authority, and is
  /// empty if this part is missing. An empty target means `*` with OPTIONS, and `/` with other methods (RFC 9112,
  /// sections 3.2.1 and 3.2.4).
  public var target: Range<Int> { targetPart.range }
  /// The part of the target before the first `?`.
  public var path: Range<Int> { Int(targetPart.start)..<Int(pathEnd) }
  /// The part of the target after the first `?`; `nil` without a `?`.
  public var query: Range<Int>? { pathEnd < targetPart.end ? Int(pathEnd) + 1..<Int(targetPart.end) : nil }
  /// The host, and the port if one was sent. They are those of a target in absolute form, otherwise those of the Host
  /// field (RFC 9112, section 3.2.2). `nil` for an HTTP/1.0 request with neither.
  public var host: Range<Int>? { hostPart?.range }
  /// The minor version of HTTP/1: 0 or 1.
  public var minorVersion: Int { Int(minor) }
  /// The length of the head in bytes, including the empty line.
  public var length: Int { Int(headLength) }
  /// The value of the `Upgrade` field, if an HTTP/1.1 request has exactly one such field and the `Connection` option
  /// `upgrade`; otherwise `nil`.
  public var upgrade: Range<Int>? { upgradePart?.range }
}

/// The way in which the end of a body is determined (RFC 9112, section 6.3).
public enum BodyFraming: Equatable, Sendable {
  /// The message has no body, or an empty one.
  case none
  /// The length of the body in bytes, above 0.
  case length(Int)
  case chunked
  /// The body ends when the connection closes. Only for responses.
  case untilClose
}
