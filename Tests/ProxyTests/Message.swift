/// An HTTP message as a test peer reads it, with a simple parser that is independent of the proxy's.
struct Message: Sendable {
  var startLine: String
  var fields: [(name: String, value: String)]
  var body: [UInt8] = []
  /// True if the body was as long as its framing announced.
  var isWhole = true
  /// The head as received.
  var head: String

  init(head: String) {
    self.head = head
    let lines = head.components(separatedBy: "\r\n")
    startLine = lines.first ?? ""
    fields = lines.dropFirst().filter { !$0.isEmpty }.map { line in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count > 1 ? String(parts[1]) : ""
      return (String(parts.first ?? ""), value.hasPrefix(" ") ? String(value.dropFirst()) : value)
    }
  }

  var status: Int { Int(startLine.split(separator: " ").dropFirst().first ?? "") ?? 0 }
  var method: String { String(startLine.split(separator: " ").first ?? "") }
  var target: String { String(startLine.split(separator: " ").dropFirst().first ?? "") }
  var text: String { String(decoding: body, as: UTF8.self) }
  var names: [String] { fields.map(\.name) }

  func all(_ name: String) -> [String] {
    fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  subscript(_ name: String) -> String? { all(name).first }
}

extension String {
  func components(separatedBy separator: String) -> [String] {
    var parts: [[UInt8]] = [[]]
    let bytes = Array(utf8)
    let mark = Array(separator.utf8)
    var position = 0
    while position < bytes.count {
      if bytes[position...].starts(with: mark) {
        parts.append([])
        position += mark.count
      } else {
        parts[parts.count - 1].append(bytes[position])
        position += 1
      }
    }
    return parts.map { String(decoding: $0, as: UTF8.self) }
  }
}
