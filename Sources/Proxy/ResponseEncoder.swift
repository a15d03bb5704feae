internal import ByteText
import HTTP

/// Encodes the header fields and the status line of a message that is given as a value, not as received bytes.
enum ResponseEncoder {
  /// The number of bytes of a head's buffer that callers leave free for the start line, the framing fields and the
  /// empty line.
  static let headOverhead = 256

  /// Returns the fields as bytes, one line each; `nil` if one of them cannot be encoded safely.
  ///
  /// A field that cannot be encoded is never just omitted: a head without its `Set-Cookie`, `Location` or security
  /// policy would have another meaning. Values come from code that has validated them. This is the last check: no CR,
  /// LF or NUL reaches the wire.
  ///
  /// - Parameter strictTransport: the gateway's `Strict-Transport-Security` line, which replaces any such field of
  ///   `headers`; empty if there is none to add.
  static func fields(_ headers: Headers, strictTransport: [UInt8] = []) -> [UInt8]? {
    var bytes: [UInt8] = []
    // Enough for most heads, so that the array grows once. malloc is fastest for blocks of at most 1,032 bytes, which
    // include the header of the array.
    bytes.reserveCapacity(max(960, isLong(headers) ? size(of: headers) + strictTransport.count : 0))
    bytes.append(copying: strictTransport.span)
    return append(headers, strictTransport: strictTransport, to: &bytes) ? bytes : nil
  }

  /// True if the value of a field is so long that the array would grow by doubling.
  private static func isLong(_ headers: Headers) -> Bool {
    let fields = headers.fields.span
    for index in fields.indices where fields[index].value.utf8.count > 2_048 { return true }
    return false
  }

  /// Returns a length that the fields do not exceed.
  private static func size(of headers: Headers) -> Int {
    headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
  }

  /// Appends the fields. Returns false if one of them cannot be encoded safely.
  ///
  /// - Parameter strictTransport: As above; its line is not appended.
  static func append(_ headers: Headers, strictTransport: [UInt8] = [], to bytes: inout [UInt8]) -> Bool {
    // The fields are read in place, because a loop over the array would retain the texts of each field.
    let fields = headers.fields.span
    for index in fields.indices {
      if !strictTransport.isEmpty, fields[index].name.isEqualIgnoringCase(to: "strict-transport-security") { continue }
      guard append(fields[index], to: &bytes) else { return false }
    }
    return true
  }

  /// Appends a field. Returns false if its name is empty, or its name or value contains a control character.
  private static func append(_ field: borrowing Headers.Field, to bytes: inout [UInt8]) -> Bool {
    let name = field.name.utf8.span
    let value = field.value.utf8.span
    guard !name.isEmpty, isSafe(field.name) else { return false }
    // Nearly all values are ASCII without control characters. One pass over the bytes detects this.
    let isPlain = !value.containsAny { $0.controlPositions | $0 & 0x8080_8080_8080_8080 }
    if isPlain {
      bytes.append(addingCapacity: name.count + value.count + 4) { output in
        output.append(copying: name)
        output.append(0x3a)
        output.append(0x20)
        output.append(copying: value)
        output.append(0x0d)
        output.append(0x0a)
      }
      return true
    }
    guard isSafe(field.value) else { return false }
    bytes.append(copying: name)
    bytes.append(0x3a)
    bytes.append(0x20)
    FieldText.encode(field.value, onto: &bytes)
    bytes.append(0x0d)
    bytes.append(0x0a)
    return true
  }

  /// The status lines with the phrases of `ReasonPhrase`, by status.
  private static let statusLines = (0...599).map { Array("HTTP/1.1 \($0) \(ReasonPhrase.of($0))\r\n".utf8) }

  /// Returns the status line of a response that the gateway creates.
  static func statusLine(_ status: Int) -> [UInt8] {
    statusLines.indices.contains(status)
      ? statusLines[status] : Array("HTTP/1.1 \(status) \(ReasonPhrase.of(status))\r\n".utf8)
  }

  /// Returns the status line, with the upstream's reason phrase if there is one; `nil` if the phrase cannot be encoded.
  static func statusLine(_ response: Response) -> [UInt8]? {
    let reason = response.reason ?? ReasonPhrase.of(response.status)
    guard isSafe(reason) else { return nil }
    var line = Array("HTTP/1.1 \(response.status) ".utf8)
    FieldText.encode(reason, onto: &line)
    line.append(0x0d)
    line.append(0x0a)
    return line
  }

  /// True if the text contains no control character except tabs.
  static func isSafe(_ text: String) -> Bool {
    let bytes = text.utf8.span
    guard bytes.containsAny(at: \.controlPositions) else { return true }
    for index in bytes.indices where bytes[index].isControl && bytes[index] != .tab { return false }
    return true
  }
}
