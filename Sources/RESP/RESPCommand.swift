/// The encoding of commands for a Redis server.
///
/// Written here and not with hiredis, which formats each length with `sprintf` into an allocation of its own. This made
/// the encoding the most expensive step of a command (docs/adr/0001).
public enum RESPCommand {
  /// Appends the encoding of a command to `output`: an array of strings, each with its length.
  ///
  /// - Parameter words: the name of the command and its arguments.
  public static func append(_ words: [[UInt8]], to output: inout [UInt8]) {
    output.append(UInt8(ascii: "*"))
    appendLine(words.count, to: &output)
    for word in words {
      output.append(UInt8(ascii: "$"))
      appendLine(word.count, to: &output)
      output.append(contentsOf: word)
      appendLineEnd(to: &output)
    }
  }

  /// Appends a number in decimal and the end of a line.
  private static func appendLine(_ number: Int, to output: inout [UInt8]) {
    if number < 10 {
      output.append(digit(number))
    } else {
      var divisor = 10
      while number / divisor >= 10 { divisor *= 10 }
      while divisor > 0 {
        output.append(digit(number / divisor % 10))
        divisor /= 10
      }
    }
    appendLineEnd(to: &output)
  }

  private static func digit(_ value: Int) -> UInt8 { UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value) }

  private static func appendLineEnd(to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\r"))
    output.append(UInt8(ascii: "\n"))
  }
}
