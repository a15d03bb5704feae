import YAML

/// Input: YAML. An accepted document, written in the plainest style of YAML, parses to the same document.
enum YAMLTarget {
  private static let limits = YAMLLimits(depth: 32, nodes: 10_000, bytes: 1 << 20)

  static func check(_ input: [UInt8]) throws(Violation) {
    guard let document = try? YAMLDocument.parse(input, file: "a.yaml", limits: limits) else { return }
    let text = flow(document.root)
    let again: YAMLDocument
    do throws(YAMLError) {
      again = try YAMLDocument.parse(Array(text.utf8), file: "b.yaml", limits: YAMLLimits(depth: 40))
    } catch {
      throw Violation("a document that was accepted is refused when it is written again: \(error)")
    }
    try Violation.unless(flow(again.root) == text, "a document that is written is read in another way")
  }

  /// Flow style, with every scalar in double quotes.
  private static func flow(_ node: YAMLNode) -> String {
    switch node.kind {
    case .scalar: return quoted(node.text ?? "")
    case .sequence: return "[" + node.items.map(flow).joined(separator: ",") + "]"
    case .mapping:
      return "{" + node.entries.map { "? \(flow($0.key)) : \(flow($0.value))" }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case " "..<"\u{7f}": quoted.unicodeScalars.append(scalar)
      default:
        let digits = String(scalar.value, radix: 16)
        quoted += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
      }
    }
    return quoted + "\""
  }
}
