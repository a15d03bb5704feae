import HTTP
import HTTP1
import Proxy
import Reactor
import Telemetry
import Time

/// Passes every request except those for a few paths.
final class TestHandler: RequestHandler {
  let requestIDs: RequestIDs? = RequestIDs(RequestIDs.Key(), space: 0)
  /// How often the decoding of a body was charged.
  private var decodings = 0

  func chargeDecoding(_ time: Nanoseconds, to client: HTTP.Peer) { if time > 0 { decodings += 1 } }

  func route(_ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts) -> Route {
    let path = String(decoding: head.path.map { bytes[$0] }, as: UTF8.self)
    if path == "/facts" {
      let text = "\(client.peer.address) \(client.peer.isSecure) \(client.forwardedHost ?? "-")"
      return .answer(Response(status: 200, body: Array(text.utf8)))
    }
    if path.hasSuffix("/slow") {
      let place = path == "/slow" ? SlowRequests.ofStreams.next() : SlowRequests.ofConnections.next()
      return .answer(Response(status: 200, body: Array("\(place)".utf8)))
    }
    if path == "/answer" { return .answer(Response(status: 200, body: Array("answered".utf8))) }
    if path == "/answer/large" { return .answer(Response(status: 200, body: [UInt8](repeating: 0x61, count: 1 << 20))) }
    if path == "/intercept/long/post" { return .intercept(bodyLimit: 100_000) }
    if path == "/intercept/huge/post" { return .intercept(bodyLimit: 16 << 20) }
    if path == "/limited" { return .overLimit(.processorTimePerAddress) }
    if path.hasPrefix("/inspect") { return .inspect(limit: 60_000) }
    if path.hasPrefix("/intercept") { return .intercept(bodyLimit: 1000) }
    return .pass
  }

  func routeForm(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts, body: Span<UInt8>
  ) -> Route {
    let path = String(decoding: head.path.map { bytes[$0] }, as: UTF8.self)
    if path == "/inspect/limited" { return .overLimit(.processorTimePerAddress) }
    return path == "/inspect/show" ? .answer(Response(status: 200, body: body.indices.map { body[$0] })) : .pass
  }

  func respond(to request: Request, routeTag: UInt8, upstream: Upstream) async -> Reply {
    let outbound = OutboundRequest(
      method: request.path.hasSuffix("post") ? "POST" : "GET", target: "/outbound", headers: ["X-From": "handler"],
      body: request.body, peer: request.peer)
    do throws(UpstreamFailure) {
      switch request.path {
      case "/intercept/relay":
        let answer = try await upstream.send(outbound)
        var head = answer.head
        head.headers.set("X-Relayed", "1")
        return .relay(answer, head)
      case "/intercept/collect", "/intercept/post", "/intercept/long/post", "/intercept/huge/post":
        let answer = try await upstream.send(outbound)
        let names = answer.head.headers.fields.map(\.name).joined(separator: ",")
        return .response(
          Response(status: answer.head.status, headers: ["X-Names": names], body: try await answer.collect()))
      case "/intercept/current":
        _ = try await upstream.send(outbound).collect()
        let current = Poller.current?.currentRequestID ?? "-"
        return .response(
          Response(status: 200, headers: ["X-Expected": requestID(request.reference)], body: Array(current.utf8)))
      case "/intercept/content":
        let answer = try await upstream.send(outbound)
        return .response(Response(status: answer.head.status, body: try await answer.content()))
      case "/intercept/decodings":
        return .response(Response(status: 200, body: Array("\(decodings)".utf8)))
      case "/intercept/limited":
        return .overLimit(.processorTimePerAddress)
      case "/intercept/discard":
        _ = try await upstream.send(outbound)
        return .response(Response(status: 200))
      case "/intercept/injection":
        return .response(Response(status: 200, headers: ["X-Injected": "a\r\nb: c"]))
      case "/intercept/oversized":
        let value = String(repeating: "x", count: 10_000)
        return .response(Response(status: 200, headers: ["X-A": value, "X-B": value, "Location": "/needed"]))
      case "/intercept/oversized/relay":
        let answer = try await upstream.send(outbound)
        var head = answer.head
        head.headers.append("Content-Security-Policy", String(repeating: "x", count: 20_000))
        return .relay(answer, head)
      case "/intercept/long":
        var long = outbound
        for name in ["X-A", "X-B", "X-C"] { long.headers.append(name, String(repeating: "y", count: 10_000)) }
        long.headers.append("Authorization", "Basic last")
        long.headers.append("Cookie", request.headers["Cookie"] ?? "")
        return .relay(try await upstream.send(long), Response(status: 200))
      case "/intercept/unsendable":
        var split = outbound
        split.headers.append("X-A", "a\r\nb: c")
        _ = try await upstream.send(split)
        return .response(Response(status: 200))
      case "/intercept/unsafe":
        _ = try await upstream.send(
          OutboundRequest(method: "GET", target: "/a HTTP/1.1\r\nX: y", headers: [:], peer: request.peer))
        return .response(Response(status: 200))
      default:
        return .response(Response(status: 200, body: request.body))
      }
    } catch {
      return .response(failure(.upstream(error), as: .page(), request: request.reference))
    }
  }

  func passingLocation(
    _ location: String, in response: PassingResponseFacts, path: () -> [UInt8]
  ) -> LocationVerdict {
    if location.contains("forbidden") { return .withhold }
    if location.contains("bound"), response.requestHasHandlerCookie { return .withhold }
    if location.contains("unsafe") { return .replace("/a\r\nSet-Cookie: b=c") }
    if location.contains("replaced") { return .replace("/replacement") }
    if location.contains("long") { return .replace("/" + String(repeating: "x", count: 20_000)) }
    return .keep
  }

  func respond(to withheld: WithheldResponse, upstream: Upstream) async -> Response {
    let request = withheld.request
    return Response(
      status: 502,
      headers: [
        "X-Withheld": withheld.response.headers["Location"] ?? "-", "X-Complete": "\(withheld.isComplete)",
        "X-Method": request.method, "X-Target": request.target, "X-Cookie": request.headers["Cookie"] ?? "-",
        "X-Type": request.headers["Content-Type"] ?? "-", "X-Length": "\(request.body.count)",
      ], body: Array(request.body.prefix(64)))
  }

  func withholdsLinks(_ values: [String], requestHasHandlerCookie: Bool) -> Bool {
    values.contains { $0.contains("forbidden") }
  }

  func editPassing(_ response: inout Response) {
    response.headers.set("X-Edited", "1")
  }

  func failure(_ failure: ProxyFailure, as form: ErrorForm, request: RequestReference) -> Response {
    let status =
      switch failure {
      case .request(let error): error.status
      case .timeout: 408
      case .overloaded(.connectionsPerAddress), .overloaded(.requestsPerAddress), .overloaded(.processorTimePerAddress):
        429
      case .overloaded: 503
      case .bodyTooLarge: 413
      case .loop: 508
      case .upstream(let error): error.status
      }
    return Response(status: status, body: Array("refused".utf8))
  }
}
