import JSON
import Time

/// A message for the operator, as one line of JSON.
enum Notice {
  private static let prefix = "proofgate: "

  /// Returns a line of text, such as `proofgate: warning: ...` or `policy.yaml:3:5: error: ...`, as a JSON object.
  static func json(_ line: String, at time: Timestamp) -> String {
    var message = line[...]
    if message.hasPrefix(prefix) { message = message.dropFirst(prefix.count) }
    var level = "info"
    if let word = ["error", "warning"].first(where: { message.hasPrefix("\($0): ") }) {
      level = word
      message = message.dropFirst(word.count + 2)
    } else if let start = [": error: ", ": warning: "].compactMap({ message.firstRange(of: $0)?.lowerBound }).min() {
      // A diagnostic keeps its text, which begins with the file and the position.
      level = message[start...].hasPrefix(": error: ") ? "error" : "warning"
    }
    let members: [String: JSONValue] = [
      "time": .string(time.text), "level": .string(level), "message": .string(String(message)),
    ]
    return String(decoding: JSONValue.text(of: members), as: UTF8.self)
  }
}
