import FoundationEssentials
import Testing

/// `vectors.json`, as far as tests read it.
struct Vectors: Decodable {
  struct RedirectMatch: Decodable, Sendable, CustomTestStringConvertible {
    let id: String
    let registered: [String]
    let requested: String?
    let clientType: String
    let policy: [String]
    let expected: String
    let reason: String

    var testDescription: String { "\(id): \(reason)" }
  }

  struct Scheme: Decodable, Sendable, CustomTestStringConvertible {
    let id: String
    let uri: String
    let scheme: String
    let expectedValid: Bool
    let warn: Bool
    let reason: String

    var testDescription: String { "\(id): \(reason)" }
  }

  struct Group<Element: Decodable & Sendable>: Decodable, Sendable {
    let vectors: [Element]
  }

  let redirectUriMatch: Group<RedirectMatch>
  let privateUseSchemes: Group<Scheme>

  static let all: Vectors = load()

  private static func load() -> Vectors {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("vectors.json")
    do {
      return try decoder.decode(Vectors.self, from: Data(contentsOf: file))
    } catch {
      fatalError("vectors.json cannot be read: \(error)")
    }
  }
}
