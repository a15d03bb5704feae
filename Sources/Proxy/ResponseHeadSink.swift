import HTTP2
import Reactor

/// The destination of a passing response head: a buffer for HTTP/1.1, or the field block of an HTTP/2 stream.
protocol ResponseHeadSink {
  func appendStart(status: Int, _ bytes: Span<UInt8>, reason: Range<Int>)
  func appendField(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>)
  func appendField(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>, suffix: StaticString)
  func appendField(_ name: StaticString, _ value: [UInt8])
  /// Appends a field given in HTTP/1.1 form with its line end. Does nothing if `line` is empty.
  func appendLine(_ line: [UInt8])
  /// Appends the framing of the body and the `Connection` field.
  func appendEnd(_ framing: ResponseRewriter.Framing.Field, status: Int, keepsAlive: Bool, minorVersion: Int)
}

extension Buffer: ResponseHeadSink {
  func appendStart(status: Int, _ bytes: Span<UInt8>, reason: Range<Int>) {
    append("HTTP/1.1 ")
    append(decimal: status)
    append(0x20)
    append(bytes, in: reason)
    append("\r\n")
  }

  func appendField(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>, suffix: StaticString) {
    append(bytes, in: name)
    append(": ")
    append(bytes, in: value)
    append(suffix)
    append("\r\n")
  }

  func appendField(_ name: StaticString, _ value: [UInt8]) {
    append(name)
    append(": ")
    append(value)
    append("\r\n")
  }

  func appendLine(_ line: [UInt8]) {
    append(line)
  }

  func appendEnd(_ framing: ResponseRewriter.Framing.Field, status: Int, keepsAlive: Bool, minorVersion: Int) {
    ResponseRewriter.appendEnd(framing, status: status, keepsAlive: keepsAlive, minorVersion: minorVersion, to: self)
  }
}

/// HTTP/2 has no reason phrase, no chunks and no `Connection` (RFC 9113, sections 8.2.2 and 8.3.2).
extension FieldBlock: ResponseHeadSink {
  func appendStart(status: Int, _ bytes: Span<UInt8>, reason: Range<Int>) {
    append(":status", decimal: status)
  }

  func appendField(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>) {
    append(bytes, name: name, value: value)
  }

  func appendField(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>, suffix: StaticString) {
    append(bytes, name: name, value: value, suffix: suffix)
  }

  func appendField(_ name: StaticString, _ value: [UInt8]) {
    append(name, value)
  }

  func appendLine(_ line: [UInt8]) {
    guard let colon = line.firstIndex(of: 0x3a) else { return }
    append(line.span, name: 0..<colon, value: colon + 2..<line.count - 2)
  }

  func appendEnd(_ framing: ResponseRewriter.Framing.Field, status: Int, keepsAlive: Bool, minorVersion: Int) {
    if case .length(let count) = framing, status != 204 { append("content-length", decimal: count) }
  }
}
