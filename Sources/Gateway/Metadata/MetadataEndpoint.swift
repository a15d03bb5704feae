import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Reactor
import Time

/// The gateway's metadata document at its well-known paths (RFC 8414, section 3; OpenID Connect Discovery, section 4).
///
/// The document is the same at each path. It is public, so scripts of every origin may read it. It does not depend on
/// any field of the request, such as `Host`.
struct MetadataEndpoint {
  /// The maximum time for the whole search for the upstream's document, if the response timeout of the policy is not
  /// shorter. Other requests wait for the first document, and clients wait at least 10 seconds for a response.
  private static let timeLimit: Milliseconds = 10_000

  private let intercepted: InterceptedRequest
  private var cache: UpstreamMetadataCache { intercepted.gateway.resources.upstreamMetadata }
  private var documents: MetadataDocuments { intercepted.gateway.snapshot.metadata }
  private var request: Request { intercepted.request }

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  func respond() async -> Response {
    if let response = PublicDocument.responseToOtherMethod(intercepted) { return response }
    switch await copy() {
    case .success(let copy):
      return documents.document(for: copy).response(to: request, lifetime: lifetime(of: copy))
    case .failure(let failure):
      var response = intercepted.tokenFailure(failure)
      response.headers.append("Access-Control-Allow-Origin", "*")
      return response
    }
  }

  /// Returns the time for which clients may keep the document: as long as the gateway uses the copy without asking the
  /// upstream, and a short time while the upstream does not answer.
  private func lifetime(of copy: UpstreamMetadataCache.Copy) -> Seconds {
    let rest = copy.freshUntil - intercepted.now
    return max(UpstreamMetadataCache.uncertainLifetime, min(rest, intercepted.policy.gateway.metadataLifetime))
  }

  // MARK: The upstream's document

  /// Returns the upstream's document. If the upstream fails, returns the former copy if there is one.
  private func copy() async -> Result<UpstreamMetadataCache.Copy, UpstreamFailure> {
    let source = documents.source
    var wait = ProgressWait()
    while true {
      switch cache.step(for: source, now: intercepted.now) {
      case .use(let copy): return .success(copy)
      case .fail: return .failure(.unreachable)
      case .wait:
        guard await wait.pause() else { return .failure(.responseTimeout) }
      case .read(let former):
        do throws(UpstreamFailure) {
          return .success(try await read(source, instead: former))
        } catch {
          var isFailure = true
          if case .clientGone = error { isFailure = false }
          cache.abandon(source, isFailure: isFailure, now: intercepted.now)
          intercepted.trail.findings.append("metadata-not-read")
          guard let former else { return .failure(error) }
          return .success(former)
        }
      }
    }
  }

  /// Reads the document from the upstream: the first one that describes the server of the policy.
  ///
  /// Throws if the upstream does not answer, if the policy names the path of the document and it is not there, or if a
  /// path that may have the document answers with a server error while there is a former document.
  private func read(
    _ source: UpstreamMetadataCache.Source, instead former: UpstreamMetadataCache.Copy?
  ) async throws(UpstreamFailure) -> UpstreamMetadataCache.Copy {
    let deadline = intercepted.upstream.poller.deadline(
      after: min(MetadataEndpoint.timeLimit, intercepted.policy.upstream.responseTimeout))
    var isUncertain = false
    var headers: Headers = ["Accept": "application/json", "Accept-Encoding": "identity"]
    intercepted.identify(&headers)
    for path in source.paths {
      let response = try await intercepted.upstream.send(
        OutboundRequest(
          method: "GET", target: path, headers: headers,
          isSecret: false, peer: request.peer, deadline: deadline))
      intercepted.trail.upstreamStatus = response.head.status
      guard (response.length ?? 0) <= UpstreamMetadata.maximumLength else { continue }
      let body: [UInt8]
      do throws(UpstreamFailure) {
        body = try await response.content()
      } catch {
        guard case .malformed = error else { throw error }
        isUncertain = true
        continue
      }
      if response.head.status >= 500 || response.head.status == 429 { isUncertain = true }
      guard response.head.status == 200, let document = UpstreamMetadata(parsing: body), documents.accepts(document)
      else { continue }
      report(document)
      return finish(document, source, intercepted.policy.gateway.metadataLifetime)
    }
    if source.isConfigured {
      intercepted.gateway.resources.notices.report(
        "the upstream has no metadata document at `endpoints.metadata`; correct the path or remove the setting")
      throw .malformed("no metadata document")
    }
    if isUncertain, former?.document != nil { throw .malformed("a server error in place of the metadata document") }
    let lifetime = intercepted.policy.gateway.metadataLifetime
    return finish(nil, source, isUncertain ? min(lifetime, UpstreamMetadataCache.uncertainLifetime) : lifetime)
  }

  private func finish(
    _ document: UpstreamMetadata?, _ source: UpstreamMetadataCache.Source, _ lifetime: Seconds
  ) -> UpstreamMetadataCache.Copy {
    cache.finish(document, of: source, lifetime: lifetime, now: intercepted.now)
  }

  /// Informs the operator if the ID tokens of the upstream name another issuer than the gateway's document.
  private func report(_ document: UpstreamMetadata) {
    guard let problem = UpstreamIssuer(document).conflict(with: intercepted.policy.gateway.issuer) else { return }
    intercepted.trail.findings.append("issuer-differs")
    intercepted.gateway.resources.notices.report(problem)
  }
}
