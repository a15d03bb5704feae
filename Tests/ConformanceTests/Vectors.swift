import FoundationEssentials
import Testing

/// `vectors.json`, as far as a running gateway can be asked.
struct Vectors: Decodable {
  struct Pair: Decodable, Sendable, CustomTestStringConvertible {
    let id: String
    let method: String
    let verifier: String
    let challenge: String

    var testDescription: String { id }
  }

  struct Verifier: Decodable, Sendable, CustomTestStringConvertible {
    let id: String
    let verifier: String
    let expectedError: String
    let againstChallenge: String

    var testDescription: String { id }
  }

  struct Challenge: Decodable, Sendable, CustomTestStringConvertible {
    let id: String
    let challenge: String?
    let method: String?

    var testDescription: String { id }
  }

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
    let expectedValid: Bool
    let warn: Bool
    let reason: String

    var testDescription: String { "\(id): \(reason)" }
  }

  struct Agent: Decodable, Sendable, CustomTestStringConvertible {
    let id: String
    let label: String
    let userAgent: String
    let expectedEmbedded: Bool
    let distinguishableByUa: Bool

    var testDescription: String { "\(id): \(label)" }
  }

  struct PKCE: Decodable, Sendable {
    let validPairs: [Pair]
    let invalidVerifiers: [Verifier]
    let invalidChallenges: [Challenge]
  }

  struct Group<Element: Decodable & Sendable>: Decodable, Sendable {
    let vectors: [Element]
  }

  let pkce: PKCE
  let userAgents: Group<Agent>
  let redirectUriMatch: Group<RedirectMatch>
  let privateUseSchemes: Group<Scheme>

  static let all: Vectors = load()

  private static func load() -> Vectors {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    do {
      return try decoder.decode(
        Vectors.self, from: Data(contentsOf: tests.appendingPathComponent("OAuthTests/vectors.json")))
    } catch {
      fatalError("vectors.json cannot be read: \(error)")
    }
  }
}
