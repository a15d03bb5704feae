/// The demo's story: a native app signs in at a legacy server through the gateway, and thieves do not.
///
/// The steps only need something that carries requests, so `proofgate demo --headless` tells the story over sockets and
/// tests can tell it in memory.
public struct DemoStory {
  /// Who takes part.
  public struct Cast: Sendable {
    /// The app, and the gateway as it sees it.
    public var app: NativeApp
    /// Another public client of the same gateway, in the hands of a thief.
    public var otherApp: NativeApp
    /// The legacy server's protected resource, through the gateway.
    public var resource: WebAddress
    /// The legacy server itself.
    public var legacy: WebAddress
    /// How the legacy server knows the gateway.
    public var legacyClient: LegacyClient
    public var user: DemoUser
    /// What the legacy server records, to show that refused requests never reach it.
    public var recorder: RequestRecorder?

    public init(
      app: NativeApp, otherApp: NativeApp, resource: WebAddress, legacy: WebAddress, legacyClient: LegacyClient,
      user: DemoUser = DemoUser(), recorder: RequestRecorder? = nil
    ) {
      self.app = app
      self.otherApp = otherApp
      self.resource = resource
      self.legacy = legacy
      self.legacyClient = legacyClient
      self.user = user
      self.recorder = recorder
    }
  }

  let cast: Cast
  let send: DemoBrowser.Send

  public init(_ cast: Cast, send: @escaping DemoBrowser.Send) {
    self.cast = cast
    self.send = send
  }

  /// Tells the whole story.
  ///
  /// - Parameters:
  ///   - isColoured: Whether ANSI sequences may be written.
  ///   - print: Takes text that ends its own lines.
  /// - Returns: Whether every step went as expected.
  public static func run(
    _ cast: Cast, isColoured: Bool, send: @escaping DemoBrowser.Send, print: (String) -> Void
  ) async -> Bool {
    let story = DemoStory(cast, send: send)
    let transcript = DemoTranscript(isColoured: isColoured)
    var steps: [DemoStep] = []
    for chapter in Chapter.allCases {
      let step = await story.tell(chapter)
      steps.append(step)
      print(transcript.text(of: step, number: steps.count))
    }
    print(transcript.summary(of: steps))
    return steps.allSatisfy(\.isAsExpected)
  }

  /// The chapters, in the order in which they are told.
  public enum Chapter: CaseIterable, Sendable {
    case success
    case noChallenge
    case stolenCode
    case wrongRedirectURI
    case replay
    case legacyAlone

    var title: String {
      switch self {
      case .success: "A native app signs in with PKCE at a server that knows neither"
      case .noChallenge: "A request without a challenge is refused before any login page"
      case .stolenCode: "A stolen code is worth nothing"
      case .wrongRedirectURI: "A redirect URI that nobody registered ends on a page"
      case .replay: "A code works once"
      case .legacyAlone: "For contrast: the legacy server without the gateway"
      }
    }
  }

  /// Plays one chapter.
  public func tell(_ chapter: Chapter) async -> DemoStep {
    var step = DemoStep(chapter.title)
    do {
      switch chapter {
      case .success: try await success(&step)
      case .noChallenge: try await noChallenge(&step)
      case .stolenCode: try await stolenCode(&step)
      case .wrongRedirectURI: try await wrongRedirectURI(&step)
      case .replay: try await replay(&step)
      case .legacyAlone: try await legacyAlone(&step)
      }
    } catch let problem as DemoProblem {
      step.conclude(false, problem.text)
    } catch {
      step.conclude(false, "an answer, but the connection failed: \(error)")
    }
    return step
  }
}

/// Why a step cannot go on.
struct DemoProblem: Error {
  let text: String
}
