public import LegacyServer

/// The demo's story: a native app signs in at a legacy server through the gateway, and attacks on the sign-in fail.
///
/// The caller provides the function that sends the requests: `proofgate demo --headless` sends them over sockets, and
/// tests pass them to the servers in memory.
public struct DemoStory {
  /// The participants.
  public struct Participants: Sendable {
    /// The app, with the gateway as its authorization server.
    public var app: NativeApp
    /// Another public client of the gateway. A thief presents its client id with the code that was stolen from `app`.
    public var otherApp: NativeApp
    /// A device without a browser; `nil` to omit its chapters.
    public var device: DemoDevice?
    /// An agent that the policy does not list; `nil` to omit its chapters.
    public var agent: DemoAgent?
    /// The address of the legacy server's protected resource behind the gateway.
    public var resource: WebAddress
    /// The address of the legacy server itself, without the gateway.
    public var legacy: WebAddress
    /// The registration of the gateway as a client of the legacy server.
    public var legacyClient: LegacyClient
    /// The user who signs in.
    public var user: DemoUser
    /// The record of the requests that reached the legacy server, with which the story checks that refused requests did
    /// not reach it. `nil` to omit these checks.
    public var recorder: RequestRecorder?

    /// Creates the participants.
    public init(
      app: NativeApp, otherApp: NativeApp, device: DemoDevice? = nil, agent: DemoAgent? = nil, resource: WebAddress,
      legacy: WebAddress, legacyClient: LegacyClient, user: DemoUser = DemoUser(), recorder: RequestRecorder? = nil
    ) {
      self.app = app
      self.otherApp = otherApp
      self.device = device
      self.agent = agent
      self.resource = resource
      self.legacy = legacy
      self.legacyClient = legacyClient
      self.user = user
      self.recorder = recorder
    }
  }

  let participants: Participants
  let send: DemoBrowser.Send

  /// Creates the story. `send` sends the requests of all participants.
  public init(_ participants: Participants, send: @escaping DemoBrowser.Send) {
    self.participants = participants
    self.send = send
  }

  /// Runs the whole story.
  ///
  /// - Parameters:
  ///   - isColoured: True to colour the text with ANSI escape sequences.
  ///   - print: Writes the text of a step or of the summary. The text ends with a line end, so `print` adds none.
  /// - Returns: True if every step went as expected.
  public static func run(
    _ participants: Participants, isColoured: Bool, send: @escaping DemoBrowser.Send, print: (String) -> Void
  ) async -> Bool {
    let story = DemoStory(participants, send: send)
    let transcript = DemoTranscript(isColoured: isColoured)
    var steps: [DemoStep] = []
    for chapter in story.chapters {
      let step = await story.run(chapter)
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
    case device
    case deniedDevice
    case agent
    case agentRedirectURI
    case withoutGateway

    var title: String {
      switch self {
      case .success: "A native app signs in with PKCE at a server that supports neither"
      case .noChallenge: "A request without a challenge is refused before any login page"
      case .stolenCode: "A stolen code is useless"
      case .wrongRedirectURI: "An unregistered redirect URI leads to an error page"
      case .replay: "A code works once"
      case .device: "A device signs in at a server that has no device grant"
      case .deniedDevice: "A device that the user denies gets no token"
      case .agent: "An agent registers itself at a server that has no registration"
      case .agentRedirectURI: "The id of a registered agent works only with its own redirect URI"
      case .withoutGateway: "For comparison: the legacy server without the gateway"
      }
    }
  }

  /// The chapters for the participants.
  var chapters: [Chapter] {
    Chapter.allCases.filter { chapter in
      switch chapter {
      case .device, .deniedDevice: participants.device != nil
      case .agent, .agentRedirectURI: participants.agent != nil
      default: true
      }
    }
  }

  /// Runs one chapter and returns its record.
  public func run(_ chapter: Chapter) async -> DemoStep {
    var step = DemoStep(chapter.title)
    do {
      switch chapter {
      case .success: try await runSuccess(&step)
      case .noChallenge: try await runNoChallenge(&step)
      case .stolenCode: try await runStolenCode(&step)
      case .wrongRedirectURI: try await runWrongRedirectURI(&step)
      case .replay: try await runReplay(&step)
      case .device: try await runDevice(&step)
      case .deniedDevice: try await runDeniedDevice(&step)
      case .agent: try await runAgent(&step)
      case .agentRedirectURI: try await runAgentRedirectURI(&step)
      case .withoutGateway: try await runWithoutGateway(&step)
      }
    } catch let unmet as UnmetExpectation {
      step.finish(isAsExpected: false, expectation: unmet.expectation)
    } catch {
      step.finish(isAsExpected: false, expectation: "an answer, but the connection failed: \(error)")
    }
    return step
  }
}

/// The error of a step that cannot continue because an expectation was not met.
struct UnmetExpectation: Error {
  let expectation: String

  init(_ expectation: String) {
    self.expectation = expectation
  }
}
