import Enforcement
import OAuth
import PolicyFile
import YAML

/// Reads the cases of a file, and collects all errors.
struct CaseReader {
  let file: String
  private(set) var errors: [String] = []
  private(set) var policy: String?
  private(set) var cases: [CaseFile.Case] = []

  init(file: String) { self.file = file }

  private mutating func report(_ node: YAMLNode, _ message: String) {
    errors.append("\(file):\(node.mark.line):\(node.mark.column): error: \(message)")
  }

  mutating func read(_ root: YAMLNode) {
    guard let entries = mapping(root, "the file", keys: ["policy", "cases"]) else { return }
    policy = entries["policy"].flatMap { text($0, "policy") }
    guard let list = entries["cases"], list.kind == .sequence, list.count > 0 else {
      return report(entries["cases"] ?? root, "`cases` must be a list with at least one case")
    }
    guard list.count <= CaseFile.maximumCount else {
      return report(list, "there are more than \(CaseFile.maximumCount) cases; use several files")
    }
    for item in list.items { readCase(item) }
  }

  private static let keys = [
    "name", "request", "get", "post", "parameters", "headers", "decision", "rule", "consent", "findings", "upstream",
  ]

  private mutating func readCase(_ node: YAMLNode) {
    guard let entries = mapping(node, "a case", keys: Self.keys) else { return }
    var expectation = CaseFile.Expectation()
    if let value = entries["decision"] {
      expectation.decision = choice(value, "decision", Self.decisions).flatMap(Evaluation.Decision.init(rawValue:))
    } else {
      report(node, "the case has no `decision`; write \(Self.listed(Self.decisions))")
    }
    if let value = entries["rule"] {
      expectation.rule = choice(value, "rule", Rejection.subjects.flatMap(\.rejections).map(\.ruleID))
      if let decision = expectation.decision, ![.reject, .wouldReject].contains(decision) {
        report(value, "`rule` needs `decision: reject` or `decision: would_reject`")
      }
    }
    if let value = entries["consent"] {
      expectation.consent = choice(value, "consent", ["true", "false"]).map { $0 == "true" }
    }
    if let value = entries["findings"] {
      if value.kind != .sequence { report(value, "`findings` must be a list") }
      for item in value.items { if let text = text(item, "findings") { expectation.findings.append(text) } }
    }
    if let value = entries["upstream"] { expectation.upstream = pairs(value, "upstream") }
    let name = entries["name"].flatMap { text($0, "name") }
    if entries["name"] == nil { report(node, "the case has no `name`; describe it in one sentence") }
    guard let request = request(node, entries), let name else { return }
    cases.append(CaseFile.Case(name: name, line: node.mark.line, request: request, expectation: expectation))
  }

  private static let decisions = Evaluation.Decision.allCases.filter { $0 != .undetermined }.map(\.rawValue)

  // MARK: The request

  private mutating func request(_ node: YAMLNode, _ entries: [String: YAMLNode]) -> TriedRequest? {
    let sources = ["request", "get", "post"].filter { entries[$0] != nil }
    guard sources.count == 1, let source = sources.first, let value = entries[source] else {
      report(node, "the case needs exactly one of `request`, `get` and `post`")
      return nil
    }
    guard let target = text(value, source) else { return nil }
    let parameters = (entries["parameters"].map { pairs($0, "parameters") } ?? []).map {
      FormParameters.Entry($0.name, $0.value)
    }
    if source == "request", let node = entries["parameters"] {
      report(node, "`parameters` needs `get` or `post`; `request` has its own")
      return nil
    }
    do throws(RequestTextError) {
      var request: TriedRequest
      if source == "request" {
        request = try TriedRequest(parsing: target)
      } else {
        request = TriedRequest(method: source.uppercased(), path: "", parameters: parameters)
        let query = request.query
        try request.setTarget(target)
        request.query = [request.query, query].compactMap(\.self).joined(separator: "&")
        if request.query?.isEmpty == true { request.query = nil }
      }
      for field in entries["headers"].map({ pairs($0, "headers") }) ?? [] {
        request.fields.append(TriedRequest.Field(field.name, field.value))
      }
      return request
    } catch {
      report(value, error.description)
      return nil
    }
  }

  // MARK: Values

  /// Returns the entries of a mapping by their keys. Reports an unknown key.
  private mutating func mapping(_ node: YAMLNode, _ name: String, keys: [String]) -> [String: YAMLNode]? {
    guard node.kind == .mapping else {
      report(node, "\(name) must be a mapping with the keys \(Self.listed(keys))")
      return nil
    }
    var entries: [String: YAMLNode] = [:]
    for entry in node.entries {
      let key = entry.key.text ?? ""
      if keys.contains(key) {
        entries[key] = entry.value
      } else {
        report(entry.key, "`\(key)` is not a key of \(name); \(Self.advice(key, keys))")
      }
    }
    return entries
  }

  private mutating func pairs(_ node: YAMLNode, _ name: String) -> [(name: String, value: String)] {
    guard node.kind == .mapping else {
      report(node, "`\(name)` must be a mapping of names to values")
      return []
    }
    var pairs: [(name: String, value: String)] = []
    for entry in node.entries {
      if let value = text(entry.value, name) { pairs.append((entry.key.text ?? "", value)) }
    }
    return pairs
  }

  private mutating func text(_ node: YAMLNode, _ name: String) -> String? {
    if node.kind != .scalar || node.isEmpty { report(node, "`\(name)` must be a text") }
    return node.isEmpty ? nil : node.text
  }

  private mutating func choice(_ node: YAMLNode, _ name: String, _ choices: [String]) -> String? {
    guard let text = text(node, name) else { return nil }
    if choices.contains(text) { return text }
    report(node, "`\(name)` cannot be `\(text)`; \(Self.advice(text, choices))")
    return nil
  }

  private static func advice(_ text: String, _ choices: [String]) -> String {
    if let near = EditDistance.nearest(to: text, among: choices) { return "did you mean `\(near)`?" }
    return choices.count > 20 ? "`proofgate rules` lists all rules" : "write \(listed(choices))"
  }

  private static func listed(_ choices: [String]) -> String { choices.map { "`\($0)`" }.joined(separator: ", ") }
}
