extension ReadinessReport {
  /// The maximum number of ids in the text that the policy does not list. Anyone can send requests with any number of them.
  private static let maximumUnlisted = 100

  /// The report as text: a table of the clients, and the rules of each client that is not ready.
  public var text: String {
    let unlisted = clients.filter { $0.state == .notListed }.dropFirst(ReadinessReport.maximumUnlisted)
    let hidden = Set(unlisted.map(\.client))
    let rows = clients.filter { !hidden.contains($0.client) }.map { client in
      [
        ReadinessReport.printable(client.client, limit: 60), String(client.requests), String(client.refused),
        ReadinessReport.printable(client.first ?? "-", limit: 30),
        ReadinessReport.printable(client.last ?? "-", limit: 30),
        ReadinessReport.printable(client.advice, limit: 300),
      ]
    }
    var text = ReadinessReport.table([["client", "requests", "refused", "first", "last", "state"]] + rows)
    if !hidden.isEmpty {
      text +=
        "and \(hidden.count) further ids that the policy does not list, with "
        + "\(unlisted.reduce(0) { $0 + $1.requests }) requests; `--json` has them all\n"
    }
    for client in clients where client.state == .notReady || !client.problems.isEmpty {
      text += "\nclient \(ReadinessReport.printable(client.client, limit: 256))\n"
      for problem in client.problems { text += "  \(problem)\n" }
      guard client.state == .notReady else { continue }
      for rule in client.rules {
        text += "  \(ReadinessReport.printable(rule.rule, limit: 100)): \(rule.requests) requests"
        if let first = rule.first, let last = rule.last {
          text +=
            " from \(ReadinessReport.printable(first, limit: 30)) to \(ReadinessReport.printable(last, limit: 30))"
        }
        text += "; see `proofgate rules \(ReadinessReport.printable(rule.rule, limit: 100))`\n"
        if let example = rule.example { text += "    latest: \(ReadinessReport.printable(example, limit: 700))\n" }
      }
    }
    if !completionPaths.isEmpty {
      let paths = completionPaths.map { ReadinessReport.printable($0, limit: 256) }
      text += "\nThe server has completed sign-ins at these paths. List them if they are its login or consent pages:\n"
      text += "  completion_paths: [\(paths.map(YAMLText.quoted).joined(separator: ", "))]\n"
    }
    return text
  }

  /// Returns the rows with columns of equal width. The last column is not padded.
  private static func table(_ rows: [[String]]) -> String {
    guard let columns = rows.first?.indices else { return "" }
    let widths = columns.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      zip(row, widths).enumerated().map { index, cell in
        index == columns.upperBound - 1
          ? cell.0 : cell.0 + String(repeating: " ", count: cell.1 - cell.0.count)
      }.joined(separator: "  ") + "\n"
    }.joined()
  }

  /// Returns the text with `?` in place of control characters and of characters outside of ASCII, which could change the
  /// terminal or hide text, and cut after `limit` characters.
  private static func printable(_ text: String, limit: Int) -> String {
    var result = ""
    for (index, scalar) in text.unicodeScalars.enumerated() {
      guard index < limit else { return result + "..." }
      result.unicodeScalars.append((" "..."~").contains(scalar) ? scalar : "?")
    }
    return result
  }
}
