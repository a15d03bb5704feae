public import HTTP
import HTTP1
public import LegacyServer
public import Proxy
import Reactor
import Synchronization
public import TLS
import Time

/// The recording upstream: the embedded legacy server on a loopback port, whose responses a script can replace.
public final class FixtureUpstream: Sendable {
  /// Returns the response instead of the legacy server; nil lets the legacy server respond.
  public typealias Script = @Sendable (Request) async -> Response?

  private struct State: Sendable {
    var legacy = LegacyAuthorizationServer(LegacyConfiguration(clients: []))
    var script: Script?
  }

  /// All requests, in the order of their arrival.
  public let recorder = RequestRecorder(limit: 4096)
  private let state: Mutex<State>
  private let server: ProxyServer
  private let shared: Handed

  /// Binds a port of 127.0.0.1.
  ///
  /// - Parameter tls: `nil` for plaintext.
  public init(tls: TLSServer? = nil) async throws(ServerError) {
    let shared = Handed()
    self.shared = shared
    var configuration = ProxyConfiguration()
    configuration.listenerTLS = [tls]
    let settings = CompiledProxyConfiguration(configuration)
    let nowhere = ServerLocation.host("127.0.0.1", port: 0)
    server = try await ProxyServer(
      workers: 1, addresses: [Address(literal: "127.0.0.1", port: 0)].compactMap(\.self), threadName: "upstream"
    ) { worker in
      ProxyWorker(
        poller: worker.poller, upstream: nowhere, settings: settings, handler: Answerer(shared), metrics: NoMetrics())
    }
    state = Mutex(State())
    shared.upstream.withLock { $0 = self }
  }

  /// The TCP port, chosen by the kernel.
  public var port: Int { server.addresses.first?.port ?? 0 }
  /// The address for clients that contact the upstream directly over plaintext.
  public var address: WebAddress { WebAddress(host: "127.0.0.1", port: port) }
  /// The legacy server that responds if no script does.
  public var legacy: LegacyAuthorizationServer { state.withLock { $0.legacy } }

  /// Replaces the legacy server for all later requests.
  public func serve(_ legacy: LegacyAuthorizationServer) { state.withLock { $0.legacy = legacy } }

  /// Sets the script for all later requests; nil removes it.
  public func script(_ script: Script?) { state.withLock { $0.script = script } }

  /// Closes everything. No script may still be waiting.
  public func stop() async {
    _ = await server.drain(delay: 0, timeout: 0, clock: .notAdvancing)
    // The server's handlers hold a reference to this object, which holds the server: break the cycle.
    shared.upstream.withLock { $0 = nil }
  }

  fileprivate func answer(_ request: Request) async -> Response {
    recorder.record(request)
    let (legacy, script) = state.withLock { ($0.legacy, $0.script) }
    if let script, let response = await script(request) { return response }
    return legacy.respond(to: request, now: SystemClock.unixTime())
  }

  /// Lets the handlers find this object, which does not exist yet when they are created.
  private final class Handed: Sendable {
    let upstream = Mutex<FixtureUpstream?>(nil)
  }

  private final class Answerer: RequestHandler {
    private let shared: Handed

    init(_ shared: Handed) {
      self.shared = shared
    }

    func route(_ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts) -> Route {
      .intercept(bodyLimit: 1024 * 1024)
    }

    func respond(to request: Request, routeTag: UInt8, upstream: Upstream) async -> Reply {
      guard let fixture = shared.upstream.withLock({ $0 }) else { return .response(Response(status: 503)) }
      return .response(await fixture.answer(request))
    }

    func passingLocation(
      _ location: String, in response: PassingResponseFacts, path: () -> [UInt8]
    ) -> LocationVerdict { .keep }
    func respond(to withheld: WithheldResponse, upstream: Upstream) async -> Response { Response(status: 502) }
    func editPassing(_ response: inout Response) {}
    func failure(_ failure: ProxyFailure, as form: ErrorForm, request: RequestReference) -> Response {
      Response(status: 400)
    }
  }
}

/// Holds scripts until a test opens it: an upstream that hangs, without a clock.
public actor Gate {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var arrivals: [CheckedContinuation<Void, Never>] = []

  /// Creates a closed gate.
  public init() {}

  /// Waits for ``open()``.
  public func pass() async {
    for arrival in arrivals { arrival.resume() }
    arrivals = []
    guard !isOpen else { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Waits until a task waits at the gate.
  public func someoneWaits() async {
    guard waiting.isEmpty else { return }
    await withCheckedContinuation { arrivals.append($0) }
  }

  /// Releases all waiting tasks. Later ones do not wait.
  public func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}
