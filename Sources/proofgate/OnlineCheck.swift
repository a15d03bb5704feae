import ArgumentParser
import Demo
import Gateway
import HTTP
import LegacyServer
import Policy
import PolicyFile
import Proxy
import Reactor
import Sealing
import Stores
import TLS
import Telemetry
import Time

/// The part of `proofgate check --online` that asks the upstream for its metadata document: the issuer in it must be the
/// issuer of the policy, because clients compare both with the issuer in ID tokens.
///
/// For one request, a gateway runs in this process on a loopback port. So the document is searched, limited and read as
/// in operation.
struct OnlineCheck {
  let poller: Poller

  /// Returns the finding about a policy without errors; `nil` if there is none.
  func finding(_ outcome: PolicyFile.Outcome) async -> Diagnostic? {
    guard let policy = outcome.policy else { return nil }
    let issuer = policy.gateway.issuer
    switch await upstreamIssuer(policy) {
    case .failure(let problem):
      return outcome.issuerFinding(
        .upstreamMetadata, .error, "the metadata document of the server cannot be read; \(problem.text)")
    case .success(.noDocument):
      return outcome.issuerFinding(
        .upstreamMetadata, .note,
        "the server has no metadata document; if it issues ID tokens, their `iss` must be `\(issuer)`")
    case .success(let found):
      return found.conflict(with: issuer).flatMap { outcome.issuerFinding(.issuerMismatch, .error, $0) }
    }
  }

  private struct Problem: Error {
    let text: String
  }

  private func upstreamIssuer(_ policy: Policy) async -> Result<UpstreamIssuer, Problem> {
    let metrics = MetricsRegistry(workers: 1, policyVersion: policy.version)
    let reading = OnlineCheck.policy(from: policy)
    do {
      let log = try LogWriter(workers: 1, metrics: metrics).log
      let gateway = try await GatewayServer(
        policy: reading, keyRing: KeyRing.ephemeral(now: SystemClock.unixTime()),
        tls: try GatewayTLS(reading, tickets: TicketKeys()), workers: 1,
        resources: GatewayResources(store: MemoryStore(), metrics: metrics, log: log))
      let address = WebAddress(host: "127.0.0.1", port: gateway.server.addresses.first?.port ?? 0)
      let request = Request(
        method: "GET", target: reading.gateway.metadataPaths.first ?? "/",
        headers: ["Host": reading.gateway.origin.authority])
      let response = try await LoopbackClient(poller, timeout: 30_000).send(address, request)
      _ = await gateway.server.drain(delay: 0, timeout: 0, clock: .notAdvancing)
      switch response.status {
      case 200: return .success(gateway.upstreamIssuer)
      case 503, 504: return .failure(Problem(text: "the server does not answer"))
      default: return .failure(Problem(text: "`endpoints.metadata` names no such document, or the answer is damaged"))
      }
    } catch {
      return .failure(Problem(text: "\(error)"))
    }
  }

  /// Returns a policy with the same upstream that serves only the metadata document, on a loopback port.
  private static func policy(from policy: Policy) -> Policy {
    var gateway = policy.gateway
    gateway.listeners = [ListenerSettings(address: SocketAddress(host: "127.0.0.1", port: 0))]
    gateway.trustedProxies = []
    gateway.metadata = .on
    gateway.store = .memory()
    var upstream = policy.upstream
    upstream.notEndpoints = []
    return Policy(
      gateway: gateway, upstream: upstream, unknownClients: .reject, mode: .enforce, clients: [:],
      version: policy.version)
  }
}
