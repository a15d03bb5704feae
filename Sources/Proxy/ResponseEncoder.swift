import HTTP
import Reactor

/// Writes the fields of a message that is held whole.
enum ResponseEncoder {
  /// Room that is left for framing fields and the empty line.
  private static let reserve = 256

  /// Writes fields; a field that could not be read back as it is meant is left out, and so is what does not fit.
  ///
  /// Values come from code that validated them. This is the last line: no CR, LF or NUL ever reaches the wire.
  ///
  /// - Parameter strictTransport: the gateway's `Strict-Transport-Security` line, which replaces any other; or nothing.
  static func appendFields(_ headers: Headers, strictTransport: [UInt8] = [], to buffer: Buffer) {
    buffer.append(strictTransport)
    for field in headers.fields {
      if !strictTransport.isEmpty, field.name.lowercased() == "strict-transport-security" { continue }
      let length = field.name.utf8.count + field.value.utf8.count + 4
      guard length + reserve <= buffer.room, isSafe(field.name), isSafe(field.value), !field.name.isEmpty else {
        continue
      }
      buffer.append(field.name)
      buffer.append(": ")
      buffer.append(field.value)
      buffer.append("\r\n")
    }
  }

  static func isSafe(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
  }
}
