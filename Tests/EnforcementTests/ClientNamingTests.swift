import ByteText
import OAuth
import Policy
import Testing

@testable import Enforcement

/// The mode of a request in a policy that enforces one client and observes another.
@Suite("Which client a request names")
struct ClientNamingTests {
  /// n2 and clients that are not listed are observed; all others are enforced.
  private static func policy(unknown: UnknownClients = .observe) -> Policy {
    Fixture.policy(unknown: unknown) { if $0.id.rawValue == "n2" { $0.mode = .observe } }
  }

  private static let form = "application/x-www-form-urlencoded"

  private static func mode(
    _ method: String = "POST", query: String?, body: String = "", type: [String] = [form],
    unknown: UnknownClients = .observe
  ) -> EnforcementMode {
    let request = AuthorizationRequest(
      method: method, query: query.map { $0[...] }, contentTypes: body.isEmpty ? [] : type, body: Array(body.utf8))
    return Enforcement.mode(of: request, policy: policy(unknown: unknown))
  }

  @Test(
    "I-observe: a form of the server belongs to the client that its query, its body or both name",
    arguments: [
      ("client_id=n2&response_type=code&state=s", "username=a&password=b"),
      ("client_id=n2&response_type=code&state=s", "client_id=n2&state=s&allow=Authorize"),
      ("client_id=n2&response_type=code&state=s", "confirm=on&scope%5B%5D=read&scope%5B%5D=write"),
      ("client_id=n2&response_type=code", "username=a&password=%e9t%e9&note=a%0d%0ab"),
      ("client_id=n2&scope=a", "client_id=&state="), ("client_id=&scope=a", "client_id=n2"),
      ("state=s&scope=read", "client_id=n2&response_type=code"), ("", "client_id=n2&response_type=code&confirm=on"),
      ("next=%2F", "client_id=n2&response_type=code"), ("client_id=n2", ""),
    ])
  func form(query: String, body: String) {
    #expect(Self.mode(query: query, body: body) == .observe)
    let unlisted = [query, body].map { $0.replacing("client_id=n2", with: "client_id=stranger") }
    #expect(Self.mode(query: unlisted[0], body: unlisted[1]) == .observe)
    #expect(Self.mode(query: unlisted[0], body: unlisted[1], unknown: .reject) == .enforce)
    let enforced = [query, body].map { $0.replacing("client_id=n2", with: "client_id=n1") }
    #expect(Self.mode(query: enforced[0], body: enforced[1]) == .enforce)
  }

  @Test("I-observe: a request with another method or with a body in a GET belongs to the single client that it names")
  func methods() {
    for method in ["GET", "HEAD", "PUT", "OPTIONS"] {
      #expect(Self.mode(method, query: "client_id=n2", body: "") == .observe)
      #expect(Self.mode(method, query: "client_id=n2", body: "client_id=n2") == .observe)
      #expect(Self.mode(method, query: "client_id=n2", body: "client_id=n1") == .enforce)
      #expect(Self.mode(method, query: "client_id=n2", body: "request=x") == .enforce)
      #expect(Self.mode(method, query: "client_id=n2", body: "x", type: ["text/plain"]) == .enforce)
    }
  }

  /// Parts in which some server finds the enforced client n1, or in which the gateway cannot find all clients.
  private static let hostile = [
    "client_id=n1", "client_id=N1", "client_id=n1%20", "client_id=%EF%BD%8E1", "client_id=n2&client_id=n2",
    "client_id=n2&client_id=n1", "client_id[]=n1", "client_id%5B0%5D=n1", "client.id=n1", "client+id=n1",
    "+client_id=n1", "Client_Id=n1", "CLIENT_ID=n1", "client_id%00=n1", "client%255Fid=n1", "a=b;client_id=n1",
    "amp;client_id=n1", "?client_id=n1", "cl%C4%B1ent_id=n1", "%EF%BD%83lient_id=n1", "client_id=%FF",
    "client_id=n1%0A",
    "%FF=n1", "client_id%ZZ=n1", "client_id=legacy-n1", "client_id=stranger", "redirect_uri[]=x",
    "redirect_uri=%FF", "Redirect_Uri=x", "State=x", "state=%FF", "request=x", "request_uri=x", "registration=x",
    "Request=x", "request_uri[]=x", "client_id=n2%E2%80%8B", "client_id=n2%20",
  ]

  @Test("I-observe: a query or body in which a server may find another client is enforced", arguments: hostile)
  func attacks(part: String) {
    let observed = "client_id=n2&response_type=code&redirect_uri=com.example.n2%3A%2Fcb"
    #expect(Self.mode(query: observed, body: part) == .enforce)
    #expect(Self.mode(query: observed, body: "username=a&password=b&" + part) == .enforce)
    #expect(Self.mode(query: part, body: observed) == .enforce)
    #expect(Self.mode(query: part + "&scope=a", body: observed + "&" + "confirm=on") == .enforce)
  }

  @Test(
    "I-observe: a form in another content type, or with too many parameters, is enforced",
    arguments: [
      ["multipart/form-data; boundary=x"], ["application/json"], ["text/plain"], [],
      ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
      ["application/x-www-form-urlencoded; charset=utf-16"],
    ])
  func unreadable(types: [String]) {
    #expect(Self.mode(query: "client_id=n2", body: "username=a", type: types) == .enforce)
    let many = Array(repeating: "a=b", count: FormParameters.maximumCount + 1).joined(separator: "&")
    #expect(Self.mode(query: "client_id=n2", body: many) == .enforce)
    #expect(Self.mode(query: many, body: "client_id=n2") == .enforce)
  }

  @Test("I-observe: ids that only Unicode equivalence makes equal are different clients")
  func equivalentIDs() {
    let policy = Fixture.policy(unknown: .observe) { client in
      guard client.id.rawValue == "n2" else { return }
      client = ClientSettings(
        id: ClientID("K"), kind: .public, application: .native, redirectURIs: client.redirectURIs, mode: .observe,
        consent: .upstream,
        upstream: UpstreamClient(clientID: ClientID("K"), authentication: .none, redirectURI: .requested))
    }
    for (query, expected) in [("client_id=K", EnforcementMode.observe), ("client_id=%E2%84%AA", .enforce)] {
      #expect(Enforcement.mode(of: AuthorizationRequest(method: "GET", query: query[...]), policy: policy) == expected)
    }
  }

  private static func tokenMode(
    _ body: String, query: String? = nil, method: String = "POST", authorization: [String] = [],
    type: String? = form, names: ParameterNames = .atToken
  ) -> EnforcementMode {
    let request = TokenRequest(
      method: method, query: query.map { $0[...] }, contentTypes: type.map { [$0] } ?? [],
      authorization: authorization, body: Array(body.utf8), definedParameters: names)
    return Enforcement.mode(of: request, policy: policy())
  }

  private static func basic(_ user: String) -> String {
    "Basic " + Base64.encode(Array("\(user):secret".utf8))
  }

  @Test(
    "I-observe: a request that a client sends belongs to the client that its query, body and credentials name",
    arguments: [ParameterNames.atToken, .atPushed, .atDeviceAuthorization])
  func direct(names: ParameterNames) {
    let own = Self.basic("n2")
    #expect(Self.tokenMode("", query: "client_id=n2&scope=a", method: "GET", type: nil, names: names) == .observe)
    #expect(Self.tokenMode("", query: "client_id=n2&scope=a", type: nil, names: names) == .observe)
    #expect(Self.tokenMode("client_id=n2", query: "client_id=n2", names: names) == .observe)
    #expect(Self.tokenMode("scope=a", query: "client_id=n2", names: names) == .observe)
    #expect(Self.tokenMode("client_id=n2&client_secret=x", authorization: [own], names: names) == .observe)
    #expect(
      Self.tokenMode("", query: "scope=a", method: "GET", authorization: [own], type: nil, names: names) == .observe)

    for other in Self.hostile
    where !other.hasPrefix("re") && !other.hasPrefix("Re") && !other.lowercased().hasPrefix("state") {
      #expect(Self.tokenMode(other, query: "client_id=n2", names: names) == .enforce, "\(other)")
      #expect(Self.tokenMode("client_id=n2", query: other, names: names) == .enforce, "\(other)")
      #expect(
        Self.tokenMode("", query: "scope=a&" + other, method: "GET", authorization: [own], type: nil, names: names)
          == .enforce, "\(other)")
    }
    #expect(Self.tokenMode("client_id=n2", authorization: [Self.basic("n1")], names: names) == .enforce)
    #expect(Self.tokenMode("client_id=n2", authorization: [own, own], names: names) == .enforce)
    for (pair, expected) in [
      ("n2:a b/+&%", EnforcementMode.observe), ("n1:a b/+&%", .enforce), ("n%32:a%", .enforce), ("n2+:a%", .enforce),
      ("n2:a%\u{0}", .enforce), (":a%", .enforce), ("n2", .enforce),
    ] {
      let field = "Basic " + Base64.encode(Array(pair.utf8))
      #expect(Self.tokenMode("scope=a", authorization: [field], names: names) == expected, "\(pair)")
    }
    #expect(Self.tokenMode("client_id=n2", authorization: ["Bearer x"], names: names) == .enforce)
    #expect(Self.tokenMode("x", query: "client_id=n2", type: "application/json", names: names) == .enforce)
    #expect(Self.tokenMode("scope=a", names: names) == .enforce)
  }

  @Test("I-observe: every client assertion in the query and the body must be that of the client")
  func assertions() {
    func assertion(_ id: String) -> String {
      "client_assertion=e30." + Base64URL.encode(Array(#"{"iss":"\#(id)","sub":"\#(id)"}"#.utf8)) + ".c2ln"
    }
    #expect(Self.tokenMode("client_id=n2&" + assertion("n2")) == .observe)
    #expect(Self.tokenMode("client_id=n2", query: assertion("n2")) == .observe)
    #expect(Self.tokenMode("client_id=n2", query: assertion("n1")) == .enforce)
    #expect(Self.tokenMode("client_id=n2&" + assertion("n2"), query: assertion("n1")) == .enforce)
    #expect(Self.tokenMode("client_id=n2&" + assertion("n1") + "&" + assertion("n2")) == .enforce)
    let strings = String(repeating: #""a","#, count: 200)
    let payload = Base64URL.encode(Array((strings + #""iss":"n2","sub":"n2""#).utf8))
    #expect(Self.tokenMode("client_id=n2&client_assertion=e30.\(payload).c2ln") == .enforce)
    #expect(Self.tokenMode("client_id=n2&" + assertion("n2") + ".x") == .enforce)
    let long = Base64URL.encode(Array((String(repeating: " ", count: 7_000) + #"{"iss":"n2","sub":"n2"}"#).utf8))
    #expect(Self.tokenMode("client_id=n2&client_assertion=e30.\(long).c2ln") == .enforce)
  }

  @Test("I-observe: a spelling that could hide a code from the gateway is enforced at the token endpoint")
  func hiddenCode() {
    for part in ["code[]=x", "Code=x", "grant_type[]=x", "code=%FF", "refresh.token=x"] {
      #expect(Self.tokenMode("client_id=n2&" + part) == .enforce)
      #expect(Self.tokenMode("client_id=n2", query: part) == .enforce)
    }
  }
}
