import Demo
import GatewayTestSupport
import HTTP
import HTTP2TestSupport
import LegacyServer
import Testing

/// Every rule applies to every version of HTTP.
@Suite("A gateway that speaks HTTP/2")
struct HTTP2GatewayTests {
  @Test("A flow over HTTP/2 runs from the app to the legacy server, and its code can be redeemed once")
  func flow() async throws {
    try await GatewayFixture.run { gateway in
      let front = gateway.front
      var browser = DemoBrowser(appRedirectURI: "com.example.n1:/cb") { address, request in
        try await address.origin == front.origin
          ? gateway.sendHTTP2(request) : ClientLoop.send(address, request)
      }
      let delivery = try await gateway.walk(&browser)
      let code = try #require(delivery.parameters["code"])
      let wrong = try await gateway.sendHTTP2(
        Self.post("/token", gateway.tokenForm("another")))
      wrong.expectTokenError(400, "invalid_grant")
      let tokens = try await gateway.sendHTTP2(Self.post("/token", gateway.tokenForm(code)))
      #expect(tokens.status == 200)
      #expect(tokens.text.contains("access_token"))
      let again = try await gateway.sendHTTP2(Self.post("/token", gateway.tokenForm(code)))
      again.expectTokenError(400, "invalid_grant")
    }
  }

  @Test("A request that is refused over HTTP/1.1 gets the same refusal over HTTP/2 and does not reach the upstream")
  func refusals() async throws {
    try await GatewayFixture.run { gateway in
      let without = { (name: String) in gateway.authorizationTarget { $0.remove(name) } }
      let form: Form = ["grant_type": "password", "client_id": "n1", "username": "a", "password": "b"]
      var otherType = Self.post("/token", gateway.tokenForm("x"))
      otherType.headers = ["Content-Type": "application/json"]
      let requests = [
        Request(method: "GET", target: without("code_challenge")),
        Request(method: "GET", target: without("client_id")),
        Request(method: "GET", target: without("redirect_uri")),
        Request(method: "GET", target: gateway.authorizationTarget("nobody", "com.example.nobody:/cb")),
        Request(method: "GET", target: gateway.authorizationTarget("n1", "com.example.n1:/other")),
        Request(method: "GET", target: gateway.authorizationTarget { $0.set("response_type", "token") }),
        Request(method: "GET", target: gateway.authorizationTarget() + "&client_id=p1"),
        Request(method: "PUT", target: gateway.authorizationTarget()),
        Request(method: "GET", target: "/token"),
        Self.post("/token", form), Self.post("/token", gateway.tokenForm("x")), otherType,
        Request(method: "GET", target: "//authorize?client_id=n1"),
        Request(method: "GET", target: "/x/..%2fauthorize"),
      ]
      for request in requests {
        let before = gateway.upstream.recorder.count
        let expected = try await gateway.send(request)
        let response = try await gateway.sendHTTP2(request)
        #expect(response.status == expected.status, "\(request.target)")
        // The error is in the query or in the fragment. The id of the request is its only random value.
        #expect(response.status >= 400 || response.location?.contains("error=") == true, "\(request.target)")
        #expect(
          Self.withoutID(response.location, response) == Self.withoutID(expected.location, expected),
          "\(request.target)")
        #expect(Self.names(response) == Self.names(expected), "\(request.target)")
        for name in ["Content-Type", "Cache-Control", "WWW-Authenticate"] {
          #expect(response.headers[name] == expected.headers[name], "\(request.target)")
        }
        if expected.headers["Content-Type"] == "application/json" {
          #expect(Self.withoutID(response.text, response) == Self.withoutID(expected.text, expected))
        }
        #expect(gateway.upstream.recorder.count == before, "\(request.target)")
      }
    }
  }

  /// Returns a text of a response without the id of the request.
  private static func withoutID(_ text: String?, _ response: Response) -> String? {
    text?.replacing(response.headers["X-Request-ID"] ?? "-", with: "ID")
  }

  /// The names of the fields, without `Connection`, which HTTP/2 does not have.
  private static func names(_ response: Response) -> [String] {
    response.headers.fields.map { $0.name.lowercased() }.filter { $0 != "connection" }.sorted()
  }

  private static func post(_ target: String, _ form: Form) -> Request {
    Request(
      method: "POST", target: target, headers: ["Content-Type": "application/x-www-form-urlencoded"],
      body: Array(form.encoded.utf8))
  }
}

extension GatewayFixture {
  /// Sends a request as the only one of an HTTP/2 connection, with the fields that ``send(_:tls:)`` adds.
  func sendHTTP2(_ request: Request) async throws -> Response {
    var fields = Frame.request(
      method: request.method, scheme: "http", path: request.target, authority: front.authority)
    fields += request.headers.fields.map { ($0.name.lowercased(), $0.value) }
    if front.isSecure { fields.append(("x-forwarded-proto", "https")) }
    var frames = [Frame.settings(), Frame.headers(1, fields, endsStream: request.body.isEmpty)]
    if !request.body.isEmpty {
      frames.append(Frame(.data, flags: Frame.endStream, stream: 1, payload: request.body))
    }
    // The client announces its end, so the gateway closes the connection after its response.
    frames.append(Frame(.goAway, payload: Frame.word(0) + Frame.word(0)))
    var bytes = try await ClientLoop.sendRaw(Frame.preface + frames.flatMap(\.bytes), toPort: port)
    let reader = FieldReader()
    var response = Response(status: 0)
    for frame in Frame.take(from: &bytes) where frame.stream == 1 {
      switch frame.kind {
      case .headers:
        for field in reader.read(frame.payload) {
          if field.name == ":status" {
            response.status = Int(field.value) ?? 0
          } else {
            response.headers.append(field.name, field.value)
          }
        }
      case .data: response.body += frame.payload
      default: break
      }
    }
    return response
  }
}
