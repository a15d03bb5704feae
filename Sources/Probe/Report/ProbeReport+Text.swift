import Policy

extension ProbeReport {
  /// The report as text, with the `upstream:` block at its end.
  package var text: String {
    var lines = ["\(options.target): \(sent) requests"]
    if let stop { lines.append("The probe ended early: \(stop)") }
    for topic in Finding.Topic.allCases {
      let findings = findings.filter { $0.topic == topic }
      guard !findings.isEmpty else { continue }
      lines += ["", topic.title]
      for finding in findings where finding.certainty != .notTested {
        lines.append("  \(finding.mark) \(finding.title): \(finding.text)")
        if let advice = finding.advice { lines.append("      -> \(advice)") }
      }
      lines += ProbeReport.openLines(findings.filter { $0.certainty == .notTested })
    }
    let block = UpstreamBlock(self)
    lines += ["", "= certain   ~ likely   ? not tested   ! act on this", ""]
    if let preset = block.preset { lines.append("The answers fit the preset `\(preset.kind)` (\(preset.server)).") }
    return (lines + ["For the policy:", ""]).map { $0 + "\n" }.joined() + block.text
  }

  /// Returns one line for all open questions with the same reason.
  private static func openLines(_ findings: [Finding]) -> [String] {
    var reasons: [String] = []
    for finding in findings where !reasons.contains(finding.text) { reasons.append(finding.text) }
    return reasons.map { reason in
      "  ? \(findings.filter { $0.text == reason }.map(\.title).joined(separator: ", ")): \(reason)"
    }
  }
}

extension Finding {
  /// The sign in front of a finding.
  fileprivate var mark: String {
    if isWarning { return "!" }
    switch certainty {
    case .certain: return "="
    case .likely: return "~"
    case .notTested: return "?"
    }
  }
}
