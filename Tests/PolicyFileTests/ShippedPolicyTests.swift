import FoundationEssentials
import OAuth
import Policy
import PolicyFile
import Testing

@Suite("What is shipped beside the program")
struct ShippedPolicyTests {
  private static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

  private struct Schema: Decodable {
    struct Section: Decodable {
      let properties: [String: Property]
      let required: [String]?
      let additionalProperties: Bool?
    }

    struct Property: Decodable {
      let description: String?
      let choices: [String]?
      let reference: String?
      let items: Choices?

      enum CodingKeys: String, CodingKey {
        case description
        case choices = "enum"
        case reference = "$ref"
        case items
      }
    }

    struct Choices: Decodable {
      let choices: [String]?

      enum CodingKeys: String, CodingKey {
        case choices = "enum"
      }
    }

    let properties: [String: Property]
    let sections: [String: Section]

    enum CodingKeys: String, CodingKey {
      case properties
      case sections = "$defs"
    }
  }

  private static func schema() throws -> Schema {
    let data = try Data(contentsOf: URL(fileURLWithPath: root + "/policies/proofgate.schema.json"))
    return try JSONDecoder().decode(Schema.self, from: data)
  }

  @Test("A shipped policy has no errors", arguments: ["mobile-app", "desktop-and-cli", "mixed"])
  func policies(_ name: String) throws {
    let path = Self.root + "/policies/\(name).yaml"
    let outcome = PolicyFile.load(path: path, PolicySources(environment: [:], readsSecrets: false))
    #expect(outcome.diagnostics.filter { $0.severity == .error } == [])
    #expect(outcome.isServable)
    #expect(outcome.selfCheck.isMet)
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    #expect(text.hasPrefix("# yaml-language-server: $schema=proofgate.schema.json\n"))
  }

  @Test("The JSON Schema has the keys that the reader reads, each with a description")
  func schemaKeys() throws {
    let schema = try Self.schema()
    var sections = schema.sections.mapValues { Set($0.properties.keys) }
    sections["policy"] = Set(schema.properties.keys)
    #expect(sections == PolicyFormat.sections.mapValues { Set($0) })
    for (name, section) in schema.sections {
      #expect(section.additionalProperties == false, "\(name)")
      for (key, property) in section.properties {
        #expect(property.description != nil || property.reference != nil, "\(name).\(key)")
      }
    }
  }

  @Test("The JSON Schema has the values that the reader reads")
  func schemaValues() throws {
    let schema = try Self.schema()
    func values<Value: RawRepresentable<String> & CaseIterable>(_: Value.Type) -> Set<String> {
      Set(Value.allCases.map(\.rawValue))
    }
    let expected: [String: Set<String>] = [
      "mode": values(Mode.self), "pkce_syntax": values(PKCESyntax.self), "state": values(StateRule.self),
      "profile": values(Profile.self), "localhost": values(LocalhostRule.self), "schemes": values(SchemeRule.self),
      "embedded_user_agents": values(EmbeddedUserAgentRule.self), "unknown_clients": values(UnknownClients.self),
      "type": values(Client.Kind.self), "application": values(Client.Application.self),
      "platform": values(Client.Platform.self), "consent": values(Consent.self), "callback": values(CallbackMode.self),
      "authentication": values(UpstreamClient.Authentication.self), "redirects": values(RedirectKind.self),
      "response_modes": values(ResponseMode.self), "pkce_methods": values(CodeChallengeMethod.self),
    ]
    for section in ["enforcement", "client", "upstream", "client_upstream"] {
      for (key, property) in schema.sections[section]?.properties ?? [:] {
        guard let known = expected[key] else { continue }
        #expect(Set(property.choices ?? property.items?.choices ?? []) == known, "\(section).\(key)")
      }
    }
    #expect(schema.sections["client"]?.properties["pkce"]?.choices == Client.PKCE.allCases.map(\.rawValue))
  }

  @Test("The reference explains every setting and every finding")
  func reference() throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: Self.root + "/docs/policy.md"))
    let text = String(decoding: data, as: UTF8.self)
    let keys = PolicyFormat.sections.values.joined()
    let unexplained = Set(keys.filter { !text.contains("`\($0)`") })
    #expect(unexplained == [])
    let silent = DiagnosticID.allCases.map(\.rawValue).filter { !text.contains("| `\($0)` |") }
    #expect(silent == [])
  }
}
