internal import ByteText
import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Time

/// The gateway's metadata document at its well-known paths (RFC 8414, section 3; OpenID Connect Discovery, section 4).
///
/// The document is the same at each path. It is public, so scripts of every origin may read it. It does not depend on
/// any field of the request, such as `Host`.
struct MetadataEndpoint {
  private let intercepted: InterceptedRequest
  private var cache: UpstreamMetadataCache { intercepted.gateway.resources.upstreamMetadata }
  private var documents: MetadataDocuments { intercepted.gateway.snapshot.metadata }
  private var request: Request { intercepted.request }

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  func respond() async -> Response {
    switch request.method {
    case "GET", "HEAD": break
    case "OPTIONS" where request.headers.contains("Access-Control-Request-Method"):
      return Response(
        status: 204,
        headers: [
          "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "GET, HEAD",
          "Access-Control-Allow-Headers": "*", "Access-Control-Max-Age": "3600",
        ])
    default:
      intercepted.trail.recordRefusal(.methodNotAllowed)
      var response = intercepted.pages.error(ErrorPage(.methodNotAllowed), as: ErrorForm(request.headers))
      response.headers.set("Allow", "GET, HEAD, OPTIONS")
      return response
    }
    switch await copy() {
    case .success(let copy): return response(documents.document(for: copy), copy)
    case .failure(let failure):
      var response = intercepted.tokenFailure(failure)
      response.headers.append("Access-Control-Allow-Origin", "*")
      return response
    }
  }

  private func response(_ document: MetadataDocument, _ copy: UpstreamMetadataCache.Copy) -> Response {
    let rest = copy.freshUntil - intercepted.now
    let age = max(UpstreamMetadataCache.uncertainLifetime, min(rest, intercepted.policy.gateway.metadataLifetime))
    var response = Response(
      status: 200,
      headers: [
        "Content-Type": "application/json", "Cache-Control": "public, max-age=\(age.count)",
        "ETag": document.entityTag, "Access-Control-Allow-Origin": "*", "X-Content-Type-Options": "nosniff",
      ])
    if isUnchanged(document) {
      response.status = 304
      response.headers.remove("Content-Type")
    } else {
      response.body = document.bytes
    }
    return response
  }

  /// Returns true if the client has this document already (RFC 9110, section 13.1.2).
  private func isUnchanged(_ document: MetadataDocument) -> Bool {
    request.headers.all("If-None-Match").flatMap { $0.split(separator: ",") }.contains { tag in
      let tag = tag.trimmed(while: \.isBlank)
      return tag == "*" || (tag.hasPrefix("W/") ? tag.dropFirst(2) : tag) == document.entityTag
    }
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
          return .success(try await read(source))
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
  /// path that may have the document answers with a server error while there is a former copy.
  private func read(_ source: UpstreamMetadataCache.Source) async throws(UpstreamFailure) -> UpstreamMetadataCache.Copy
  {
    var isUncertain = false
    for path in source.paths {
      let response = try await intercepted.upstream.send(
        OutboundRequest(
          method: "GET", target: path, headers: ["Accept": "application/json", "Accept-Encoding": "identity"],
          isSecret: false, peer: request.peer))
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
    let lifetime = intercepted.policy.gateway.metadataLifetime
    return finish(nil, source, isUncertain ? min(lifetime, UpstreamMetadataCache.uncertainLifetime) : lifetime)
  }

  private func finish(
    _ document: UpstreamMetadata?, _ source: UpstreamMetadataCache.Source, _ lifetime: Seconds
  ) -> UpstreamMetadataCache.Copy {
    cache.finish(document, of: source, lifetime: lifetime, now: intercepted.now)
  }

  /// Informs the operator if the ID tokens of the upstream name another issuer than the gateway's document. Clients
  /// refuse such tokens (OpenID Connect Core, section 3.1.3.7).
  private func report(_ document: UpstreamMetadata) {
    let issuer = intercepted.policy.gateway.issuer
    guard document.describesIDTokens, let other = document.issuer, other != issuer else { return }
    intercepted.trail.findings.append("issuer-differs")
    let isPrintable = other.utf8.count <= 256 && other.utf8.allSatisfy { 0x20 < $0 && $0 < 0x7f && $0 != 0x60 }
    intercepted.gateway.resources.notices.report(
      "ID tokens of the upstream name \(isPrintable ? "the issuer `\(other)`" : "another issuer"), but `gateway.issuer` "
        + "is `\(issuer)`, so clients refuse these tokens; make both equal, byte for byte")
  }
}
