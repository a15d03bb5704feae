/// The demo's story: a native app signs in at a legacy server through the gateway, and thieves fail.
///
/// The steps need only a transport for requests, so `proofgate demo --headless` runs the story over sockets, and tests
/// run it in memory.
public struct DemoStory {
  /// The participants.
  public struct Cast: Sendable {
    /// The app, with the gateway as its authorization server.
    public var app: NativeApp
    /// Another public client of the same gateway, which a thief uses.
    public var otherApp: NativeApp
    /// The legacy server's protected resource, through the gateway.
    public var resource: WebAddress
    /// The legacy server itself, without the gateway.
    public var legacy: WebAddress
    /// The client by which the legacy server knows the gateway.
    public var legacyClient: LegacyClient
    /// The user who signs in.
    public var user: DemoUser
    /// The requests that the legacy server records, to show that refused requests never reach it.
    public var recorder: RequestRecorder?

    /// Creates the participants.
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

  /// Creates the story. `send` carries the requests of all participants.
  public init(_ cast: Cast, send: @escaping DemoBrowser.Send) {
    self.cast = cast
    self.send = send
  }

  /// Runs the whole story.
  ///
  /// - Parameters:
  ///   - isColoured: True if ANSI sequences may be written.
  ///   - print: Writes text that contains its own line ends.
  /// - Returns: True if every step went as expected.
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

  /// The chapters, in the order of the story.
  public enum Chapter: CaseIterable, Sendable {
    case success
    case noChallenge
    case stolenCode
    case wrongRedirectURI
    case replay
    case legacyAlone

    var title: String {
      switch self {
      case .success: "A native app signs in with PKCE at a server that supports neither"
      case .noChallenge: "A request without a challenge is refused before any login page"
      case .stolenCode: "A stolen code is useless"
      case .wrongRedirectURI: "An unregistered redirect URI leads to an error page"
      case .replay: "A code works once"
      case .legacyAlone: "For comparison: the legacy server without the gateway"
      }
    }
  }

  /// Runs one chapter.
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

/// The expectation that a step did not meet, for which it cannot continue.
struct DemoProblem: Error {
  let text: String
}
