import FoundationEssentials
public import Testing

/// The parts of `vectors.json` that tests read.
public struct Vectors: Decodable, Sendable {
  public struct Pair: Decodable, Sendable, CustomTestStringConvertible {
    public let id: String
    public let method: String
    public let verifier: String
    public let challenge: String
    public let verifierLength: Int

    public var testDescription: String { id }
  }

  public struct Verifier: Decodable, Sendable, CustomTestStringConvertible {
    public let id: String
    public let verifier: String
    public let expectedError: String
    public let againstChallenge: String
    public let reason: String

    public var testDescription: String { "\(id): \(reason)" }
  }

  public struct Challenge: Decodable, Sendable, CustomTestStringConvertible {
    public let id: String
    public let challenge: String?
    public let method: String?
    public let reason: String

    public var testDescription: String { "\(id): \(reason)" }
  }

  public struct RedirectMatch: Decodable, Sendable, CustomTestStringConvertible {
    public let id: String
    public let registered: [String]
    public let requested: String?
    public let clientType: String
    public let policy: [String]
    public let expected: String
    public let reason: String

    public var testDescription: String { "\(id): \(reason)" }
  }

  public struct Scheme: Decodable, Sendable, CustomTestStringConvertible {
    public let id: String
    public let uri: String
    public let scheme: String
    public let expectedValid: Bool
    public let warn: Bool
    public let reason: String

    public var testDescription: String { "\(id): \(reason)" }
  }

  public struct Agent: Decodable, Sendable, CustomTestStringConvertible {
    public let id: String
    public let label: String
    public let userAgent: String
    public let expectedEmbedded: Bool
    public let distinguishableByUa: Bool

    public var testDescription: String { "\(id): \(label)" }
  }

  public struct PKCE: Decodable, Sendable {
    public let validPairs: [Pair]
    public let invalidVerifiers: [Verifier]
    public let invalidChallenges: [Challenge]
  }

  public struct Group<Element: Decodable & Sendable>: Decodable, Sendable {
    public let vectors: [Element]
  }

  public let pkce: PKCE
  public let userAgents: Group<Agent>
  public let redirectUriMatch: Group<RedirectMatch>
  public let privateUseSchemes: Group<Scheme>

  public static let all: Vectors = load()

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
