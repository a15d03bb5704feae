import ByteText
import FoundationEssentials
import PolicyFile

extension CheckReport {
  /// Returns the findings in the format of static analysis tools (SARIF 2.1.0), which code hosts show at the lines of a
  /// change.
  func sarif(quiet: Bool) throws -> String {
    let findings = findings.filter { !quiet || $0.severity != .note }
    let ids = Set(findings.map(\.id)).sorted { $0.rawValue < $1.rawValue }
    let log = SARIFLog(
      runs: [
        SARIFLog.Run(
          tool: SARIFLog.Tool(driver: SARIFLog.Driver(version: Version.number, rules: ids.map(SARIFLog.Rule.init))),
          results: findings.map { finding in
            SARIFLog.Result(finding, ruleIndex: ids.firstIndex(of: finding.id) ?? 0)
          })
      ])
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(log), as: UTF8.self).visibleJSON
  }
}

/// A log of findings. The names of types and members are those of SARIF 2.1.0, section 3.
private struct SARIFLog: Encodable {
  enum CodingKeys: String, CodingKey {
    case schema = "$schema"
    case version, runs
  }

  struct Run: Encodable {
    let tool: Tool
    let columnKind = "unicodeCodePoints"
    let results: [Result]
  }

  struct Tool: Encodable {
    let driver: Driver
  }

  struct Driver: Encodable {
    let name = "proofgate"
    let version: String
    let rules: [Rule]
  }

  /// A kind of finding.
  struct Rule: Encodable {
    let id: String
    let shortDescription: Message

    init(_ id: DiagnosticID) {
      self.id = id.rawValue
      shortDescription = Message(text: id.rawValue + (id.reference.map { " (\($0))" } ?? ""))
    }
  }

  struct Message: Encodable {
    let text: String
  }

  struct Result: Encodable {
    let ruleId: String
    let ruleIndex: Int
    let level: String
    let message: Message
    let locations: [Location]

    init(_ finding: Diagnostic, ruleIndex: Int) {
      ruleId = finding.id.rawValue
      self.ruleIndex = ruleIndex
      // SARIF has the same words for the three levels.
      level = finding.severity.rawValue
      message = Message(text: finding.message)
      locations = [Location(finding)]
    }
  }

  struct Location: Encodable {
    let physicalLocation: PhysicalLocation

    init(_ finding: Diagnostic) {
      physicalLocation = PhysicalLocation(
        artifactLocation: ArtifactLocation(path: finding.file),
        region: Region(startLine: finding.line, startColumn: finding.column))
    }
  }

  struct PhysicalLocation: Encodable {
    let artifactLocation: ArtifactLocation
    let region: Region
  }

  struct ArtifactLocation: Encodable {
    let uri: String

    /// Creates the URI of a file (section 3.4.3): a path becomes a relative reference, or a `file` URI if it begins with
    /// a slash. Bytes that a path of a URI cannot have are percent-encoded (RFC 3986, section 2.1).
    init(path: String) {
      var uri = path.hasPrefix("/") ? "file://" : ""
      for byte in path.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "~"), UInt8(ascii: "/"):
          uri.unicodeScalars.append(Unicode.Scalar(byte))
        default:
          uri += byte < 16 ? "%0" : "%"
          uri += String(byte, radix: 16, uppercase: true)
        }
      }
      self.uri = uri
    }
  }

  struct Region: Encodable {
    let startLine: Int
    let startColumn: Int
  }

  let schema = "https://json.schemastore.org/sarif-2.1.0.json"
  let version = "2.1.0"
  let runs: [Run]
}
