import HTTP
import Reactor

/// Writes the fields of a message that is held whole.
enum ResponseEncoder {
  /// Room that is left for framing fields and the empty line.
  private static let reserve = 256

  /// Writes fields; a field that could not be read back as it is meant is left out, and so is what does not fit.
  ///
  /// Values come from code that validated them. This is the last line: no CR, LF or NUL ever reaches the wire.
  static func appendFields(_ headers: Headers, to buffer: Buffer) {
    for field in headers.fields {
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
