/// Texts of a log as YAML. A log contains texts of attackers, so each of them is written by this function only, also in
/// comments.
package enum YAMLText {
  /// Returns the text as a double-quoted scalar in printable ASCII (YAML 1.2, section 7.3.1). It contains no line end, so
  /// it is safe in a comment, too.
  package static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case " "..."~": result.unicodeScalars.append(scalar)
      default: result += scalar.value < 0x1_0000 ? "\\u\(hex(scalar, 4))" : "\\U\(hex(scalar, 8))"
      }
    }
    return result + "\""
  }

  private static func hex(_ scalar: Unicode.Scalar, _ digits: Int) -> String {
    let text = String(scalar.value, radix: 16)
    return String(repeating: "0", count: digits - text.count) + text
  }
}
