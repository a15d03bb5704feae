extension PolicyDifference {
  /// The report of `proofgate diff`.
  public var text: String {
    var text = ""
    for client in clients {
      text += "\(client.title)\n"
      for change in client.changes { text += "  \(change.request)\n    \(change.outcome)\n" }
    }
    return text + summary + "\n"
  }

  /// The number of changes in one line.
  public var summary: String {
    let decisions =
      changeCount == 0 ? "no decision changes" : "\(changeCount) decision\(changeCount == 1 ? "" : "s") changed"
    let count = "\(comparedCount) client\(comparedCount == 1 ? "" : "s") compared"
    return decisions + ", " + count + (omittedCount > 0 ? ", \(omittedCount) not compared" : "")
  }

  /// One line for each changed decision, at most `limit`, and one that says how many there are. For the log of a reload.
  public func lines(limit: Int) -> [String] {
    var lines: [String] = []
    for client in clients {
      if client.kind == .added || client.kind == .removed {
        lines.append(client.title)
      } else {
        lines += client.changes.map { "\(client.name): \($0.request): \($0.outcome)" }
      }
      if lines.count > limit { break }
    }
    let isCut = lines.count > limit
    return lines.prefix(limit).map { "decision changed: \($0)" }
      + [summary + (isCut ? "; `proofgate diff OLD NEW` shows all" : "")]
  }
}

extension PolicyDifference.ClientChanges {
  /// The client in the report.
  var name: String {
    switch kind {
    case .unlisted: client == nil ? "cases" : "clients that are not listed"
    case .added, .removed, .changed: "client \(client ?? "")"
    }
  }

  /// The first line of the client in the report.
  var title: String {
    switch kind {
    case .added: "\(name): added; \(changes.count) of \(requestCount) requests change"
    case .removed: "\(name): removed; \(changes.count) of \(requestCount) requests change"
    case .changed, .unlisted: "\(name): \(changes.count) of \(requestCount) requests change"
    }
  }
}

extension PolicyDifference.Change {
  /// The old and the new decision.
  var outcome: String {
    if before != after { return "\(before) -> \(after)" }
    return "\(after), with another upstream request: \(upstream.joined(separator: ", "))"
  }
}

/// The structure of `proofgate diff --json`.
public struct DifferenceDocument: Encodable, Sendable {
  struct Client: Encodable, Sendable {
    let client: String?
    let kind: String
    let requests: Int
    let changes: [Change]
  }

  struct Change: Encodable, Sendable {
    let request: String
    let before: String
    let after: String
    let upstream: [String]
  }

  let changes: Int
  let clients: [Client]
  let compared: Int
  let omitted: Int
  let log: LoggedDifference?

  /// Describes a comparison of generated requests, and one of the requests in logs.
  public init(_ difference: PolicyDifference, log: LoggedDifference? = nil) {
    self.log = log
    changes = difference.changeCount
    compared = difference.comparedCount
    omitted = difference.omittedCount
    clients = difference.clients.map { client in
      Client(
        client: client.client, kind: client.kind.rawValue, requests: client.requestCount,
        changes: client.changes.map {
          Change(request: $0.request, before: $0.before, after: $0.after, upstream: $0.upstream)
        })
    }
  }
}
