internal import ByteText

/// A parsed and validated response head of an upstream. `reason` is a range of the bytes from which the head was
/// parsed.
public struct ResponseHead: Sendable {
  /// The status code, 100 to 599.
  public let status: Int
  /// The reason phrase; may be empty.
  public let reason: Range<Int>
  /// The minor version of HTTP/1: 0 or 1.
  public let minorVersion: Int
  /// The length of the head in bytes, including the empty line.
  public let length: Int
  /// The framing of the body.
  public let body: BodyFraming
  /// True if the connection may carry another request.
  public let keepsAlive: Bool
  /// The value of `Content-Length`; `nil` if the field is absent. It is forwarded even if there is no body, as in a
  /// response to HEAD and in a 304.
  public let announcedLength: Int?
}

/// A parser of response heads (RFC 9112, sections 4 to 6.3). It is as strict as the parser of request heads. Otherwise
/// the gateway and the upstream, or the client and the gateway, could disagree on where the next response begins.
public enum ResponseHeadParser {
  /// Parses a complete head and fills `index` with its fields. A thrown error contains the reason; the client gets 502.
  ///
  /// - Parameters:
  ///   - method: The method of the request. A response to HEAD has no body.
  ///   - fieldLimit: The maximum number of fields, at most `HeadIndex.fieldLimit`.
  public static func parse(
    _ bytes: Span<UInt8>, length: Int, to method: Method, fieldLimit: Int = HeadIndex.fieldLimit,
    into index: HeadIndex
  ) throws(MessageError) -> ResponseHead {
    index.clear()
    let line = try StatusLine(bytes)
    try index.parseFields(bytes, from: line.end, to: length, limit: fieldLimit)
    let options = try index.readConnectionOptions(bytes)
    let isChunked = try Framing.isChunked(bytes, index)
    let announced = try Framing.contentLength(bytes, index)
    guard !(isChunked && announced != nil) else { throw .malformed("both Transfer-Encoding and Content-Length") }
    guard !(isChunked && line.minorVersion == 0) else { throw .malformed("Transfer-Encoding in an HTTP/1.0 response") }

    let hasFraming = isChunked || announced ?? 0 > 0
    guard line.status >= 200 || !hasFraming else { throw .malformed("an interim response with a body") }

    let body: BodyFraming
    if method == .head || line.status < 200 || line.status == 204 || line.status == 304 {
      body = .none
    } else if isChunked {
      body = .chunked
    } else if let announced {
      body = announced == 0 ? .none : .length(announced)
    } else {
      body = .untilClose
    }
    // Some servers send a body although HTTP does not allow a body after this head. The gateway would read this body as
    // the response to the next request on the connection, so the connection must carry no other request.
    let mayHaveStrayBody = method == .head || line.status == 204 || line.status == 304
    let isEndCertain = body != .untilClose && !mayHaveStrayBody
    let keepsAlive = isEndCertain && !options.close && (line.minorVersion == 1 || options.keepAlive)
    return ResponseHead(
      status: line.status, reason: line.reason, minorVersion: line.minorVersion, length: length, body: body,
      keepsAlive: keepsAlive, announcedLength: announced)
  }

  /// Parses `HTTP-version SP status-code SP [ reason-phrase ] CRLF`. The second space may be missing if there is no
  /// phrase, because several servers omit it.
  private struct StatusLine {
    let status: Int
    let reason: Range<Int>
    let minorVersion: Int
    let end: Int

    init(_ bytes: Span<UInt8>) throws(MessageError) {
      guard bytes.count > 14, HeadSyntax.isHTTP(bytes, at: 0), bytes[5] == 0x31, bytes[6] == 0x2e,
        bytes[7] == 0x30 || bytes[7] == 0x31, bytes[8] == .space
      else { throw .malformed("an invalid status line") }
      minorVersion = Int(bytes[7] &- 0x30)
      var code = 0
      for position in 9..<12 {
        guard bytes[position].isDigit else { throw .malformed("an invalid status code") }
        code = code * 10 + Int(bytes[position] &- 0x30)
      }
      guard code >= 100, code <= 599 else { throw .malformed("a status code outside 100 to 599") }
      status = code
      guard bytes[12] == .space || bytes[12] == .carriageReturn else { throw .malformed("an invalid status line") }
      var position = bytes[12] == .space ? 13 : 12
      let start = position
      while bytes[position] != .carriageReturn {
        guard bytes[position].isFieldText else { throw .malformed("a control character in the status line") }
        position += 1
      }
      reason = start..<position
      end = try HeadSyntax.skipLineEnd(bytes, position)
    }
  }
}
