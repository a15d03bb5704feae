import FoundationEssentials
public import Testing

/// The parts of `vectors.json` that tests read.
public struct Vectors: Decodable, Sendable {
  /// A code verifier with its code challenge (RFC 7636, section 4).
  public struct Pair: Decodable, Sendable, CustomTestStringConvertible {
    /// The name of the vector in the file.
    public let id: String
    /// The code challenge method, `S256` or `plain`.
    public let method: String
    /// The code verifier.
    public let verifier: String
    /// The challenge that the method derives from the verifier.
    public let challenge: String
    /// The length of the verifier in characters.
    public let verifierLength: Int

    /// The title of the test case.
    public var testDescription: String { id }
  }

  /// A code verifier that a token request must not succeed with.
  public struct Verifier: Decodable, Sendable, CustomTestStringConvertible {
    /// The name of the vector in the file.
    public let id: String
    /// The malformed or wrong verifier.
    public let verifier: String
    /// The OAuth error code of the token response.
    public let expectedError: String
    /// The S256 challenge of the authorization request.
    public let againstChallenge: String
    /// The reason for the expected result.
    public let reason: String

    /// The title of the test case.
    public var testDescription: String { "\(id): \(reason)" }
  }

  /// A code challenge or method that an authorization request must not succeed with.
  public struct Challenge: Decodable, Sendable, CustomTestStringConvertible {
    /// The name of the vector in the file.
    public let id: String
    /// The value of `code_challenge`; nil if the parameter is missing.
    public let challenge: String?
    /// The value of `code_challenge_method`; nil if the parameter is missing.
    public let method: String?
    /// The reason for the expected result.
    public let reason: String

    /// The title of the test case.
    public var testDescription: String { "\(id): \(reason)" }
  }

  /// A redirect URI of an authorization request, compared with those that are registered.
  public struct RedirectMatch: Decodable, Sendable, CustomTestStringConvertible {
    /// The name of the vector in the file.
    public let id: String
    /// The registered redirect URIs of the client.
    public let registered: [String]
    /// The value of `redirect_uri`; nil if the parameter is missing.
    public let requested: String?
    /// The type of the client, `native-public` or `web-confidential`.
    public let clientType: String
    /// The settings that relax the comparison: `localhost_any_port`, `loopback_any_path`; usually empty.
    public let policy: [String]
    /// The result of the comparison, `match` or `reject`.
    public let expected: String
    /// The reason for the expected result.
    public let reason: String

    /// The title of the test case.
    public var testDescription: String { "\(id): \(reason)" }
  }

  /// A redirect URI with a scheme that a native app may or may not register (RFC 8252, sections 7.1 and 8.4).
  public struct Scheme: Decodable, Sendable, CustomTestStringConvertible {
    /// The name of the vector in the file.
    public let id: String
    /// The redirect URI.
    public let uri: String
    /// The scheme of the URI.
    public let scheme: String
    /// True if a policy may contain the URI.
    public let expectedValid: Bool
    /// True if the URI is accepted with a warning or note.
    public let warn: Bool
    /// The reason for the expected result.
    public let reason: String

    /// The title of the test case.
    public var testDescription: String { "\(id): \(reason)" }
  }

  /// A `User-Agent` of an embedded browser or of another one (RFC 8252, section 8.12).
  public struct Agent: Decodable, Sendable, CustomTestStringConvertible {
    /// The name of the vector in the file.
    public let id: String
    /// The name of the browser and its platform.
    public let label: String
    /// The value of `User-Agent`.
    public let userAgent: String
    /// True if the detector must classify the value as an embedded browser.
    public let expectedEmbedded: Bool
    /// True if the value alone tells embedded and other browsers apart.
    public let distinguishableByUa: Bool

    /// The title of the test case.
    public var testDescription: String { "\(id): \(label)" }
  }

  /// The vectors of `pkce`.
  public struct PKCE: Decodable, Sendable {
    /// Verifiers with their challenges.
    public let validPairs: [Pair]
    /// Verifiers that the token endpoint must refuse.
    public let invalidVerifiers: [Verifier]
    /// Challenges and methods that must not lead to an access token.
    public let invalidChallenges: [Challenge]
  }

  /// A section of the file that contains one list of vectors.
  public struct Group<Element: Decodable & Sendable>: Decodable, Sendable {
    /// The vectors in the order of the file.
    public let vectors: [Element]
  }

  /// The code verifiers and challenges (RFC 7636).
  public let pkce: PKCE
  /// The values of `User-Agent`.
  public let userAgents: Group<Agent>
  /// The comparisons of redirect URIs.
  public let redirectUriMatch: Group<RedirectMatch>
  /// The private-use schemes.
  public let privateUseSchemes: Group<Scheme>

  /// The content of the file, read on first use. A file that cannot be decoded ends the process.
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
