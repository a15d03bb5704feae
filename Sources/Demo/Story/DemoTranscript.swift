import HTTP
import LegacyServer

/// Formats the story for a terminal: one block per step, with secrets shortened.
public struct DemoTranscript: Sendable {
  /// True to colour the text with ANSI escape sequences.
  public var isColoured: Bool
  /// The maximum number of columns of a line.
  public var width = 100
  private static let speakerWidth = 8
  private let margin = String(repeating: " ", count: 4 + speakerWidth)

  /// Creates a formatter.
  public init(isColoured: Bool) {
    self.isColoured = isColoured
  }

  /// Returns the text of a step, with an empty line at the end.
  public func text(of step: DemoStep, number: Int) -> String {
    var text = styled("1", "\(number). \(step.title)") + "\n"
    for line in step.lines {
      let rows = wrapped(line.text)
      text += "   " + styled("2", padded(line.speaker)) + " \(rows[0])\n"
      for row in rows.dropFirst() { text += margin + "  \(row)\n" }
    }
    let status = step.isAsExpected ? styled("32", padded("ok")) : styled("1;31", padded("FAILED"))
    return text + "   \(status) \(step.result)\n\n"
  }

  /// Returns the last line of the story: the number of failed steps.
  public func summary(of steps: [DemoStep]) -> String {
    let failed = steps.filter { !$0.isAsExpected }.count
    return failed == 0
      ? styled("32", "All \(steps.count) steps went as expected.") + "\n"
      : styled("1;31", "\(failed) of \(steps.count) steps did not go as expected.") + "\n"
  }

  /// Wraps text between words. A word that is longer than a line stays whole, so that the user can copy it.
  private func wrapped(_ text: String) -> [String] {
    var rows = [""]
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      let last = rows[rows.count - 1]
      if last.isEmpty {
        rows[rows.count - 1] = String(word)
      } else if margin.count + 2 + last.count + 1 + word.count > width {
        rows.append(String(word))
      } else {
        rows[rows.count - 1] = "\(last) \(word)"
      }
    }
    return rows
  }

  private func padded(_ text: String) -> String {
    text + String(repeating: " ", count: max(0, DemoTranscript.speakerWidth - text.count))
  }

  /// Returns the text with ANSI attributes, for example `1;31` for bold and red; unchanged if colours are off.
  private func styled(_ code: String, _ text: String) -> String {
    isColoured ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
  }
}

extension DemoTranscript {
  /// The names of the parameters that are secret or long.
  private static let shortened: Set<String> = [
    "code", "state", "code_challenge", "code_verifier", "access_token", "refresh_token", "client_secret",
    "device_code",
  ]

  /// The client ids that are longer than this many characters are shortened: those that contain a registration.
  private static let longestClientID = 40

  /// Returns the decoded parameters on one line, with secret and long values shortened.
  static func line(_ form: Form) -> String {
    form.fields.map { field in
      let isLong = field.name == "client_id" && field.value.count > longestClientID
      return "\(field.name)=\(isLong || shortened.contains(field.name) ? short(field.value) : field.value)"
    }.joined(separator: " ")
  }

  /// Returns an address on one line: the part in front of the query, and the parameters.
  static func line(address: String) -> String {
    guard let questionMark = address.firstIndex(of: "?") else { return address }
    return address[..<questionMark] + " " + line(Form(decoding: address[address.index(after: questionMark)...]))
  }

  /// Returns a request on one line: the method, the path, and the parameters of the query and the body.
  static func line(_ request: Request) -> String {
    let body = Form(decoding: String(decoding: request.body, as: UTF8.self))
    let head = "\(request.method) \(line(address: request.target))"
    return body.isEmpty ? head : head + " " + line(body)
  }

  /// Returns a response on one line: the status, followed by the target of a redirect, the heading of a page, or the
  /// members of a JSON object.
  static func line(_ response: Response) -> String {
    if let location = response.headers["Location"] { return "\(response.status) to \(line(address: location))" }
    let body = String(decoding: response.body, as: UTF8.self)
    if response.headers["Content-Type"]?.hasPrefix("text/html") == true {
      return "\(response.status) page: \(heading(of: body))"
    }
    guard body.hasPrefix("{") else { return String(response.status) }
    let members = body.drop { $0 == "{" }.prefix { $0 != "}" }.split(separator: ",").map { member in
      let parts = member.split(separator: ":", maxSplits: 1).map { $0.filter { $0 != "\"" } }
      guard parts.count == 2 else { return String(member) }
      return "\(parts[0])=\(shortened.contains(parts[0]) ? short(parts[1]) : parts[1])"
    }
    return "\(response.status) \(members.joined(separator: " "))"
  }

  /// Returns the heading of the `main` element of a page. If there is none, returns the first heading or the title.
  private static func heading(of html: String) -> String {
    for (open, close) in [("<main>\n<h1>", "</h1>"), ("<h1>", "</h1>"), ("<title>", "</title>")] {
      guard let start = html.firstRange(of: open), let end = html[start.upperBound...].firstRange(of: close) else {
        continue
      }
      return HTMLForm.text(of: String(html[start.upperBound..<end.lowerBound]))
    }
    return "no title"
  }

  /// Returns the first characters of a value that is secret or long.
  static func short(_ value: String) -> String {
    value.prefix(min(6, value.count / 3)) + "…"
  }
}
