import OAuth
import Policy
import Testing
import Time

@testable import Enforcement

/// The rules for device authorization requests and polls (RFC 8628, sections 3.1 and 3.4).
@Suite("Device requests")
struct DeviceRuleTests {
  private static let grant = "urn:ietf:params:oauth:grant-type:device_code"
  private static let deviceCode = DeviceCode(
    flow: Fixture.transactionID, clientID: ClientID("tv1"), expiry: Fixture.now + 600)

  private func start(
    _ body: String = "client_id=tv1&scope=read", authorization: [String] = [], query: Substring? = nil,
    method: String = "POST", contentType: String = "application/x-www-form-urlencoded", hasDPoPProof: Bool = false,
    hasClientCertificate: Bool = false, policy: Policy = Fixture.policy()
  ) -> DecisionWithFindings<DeviceAuthorizationPermit> {
    let request = TokenRequest(
      method: method, query: query, contentTypes: [contentType], authorization: authorization,
      body: Array(body.utf8), definedParameters: .atDeviceAuthorization, hasDPoPProof: hasDPoPProof,
      hasClientCertificate: hasClientCertificate)
    return Enforcement.decideDeviceAuthorization(request, policy: policy)
  }

  private func poll(
    _ client: String = "tv1", _ opened: Opened<DeviceCode> = .value(deviceCode), resource: String? = nil,
    policy: Policy = Fixture.policy { $0.grants.insert(.deviceCode) }, now: UnixTime = Fixture.now
  ) throws -> DecisionWithFindings<DevicePollPermit> {
    let poll = try devicePoll(client, resource: resource, policy: policy)
    return Enforcement.decideDevicePoll(poll, opened: opened, policy: policy, now: now)
  }

  private func pollRequest(_ client: String, resource: String?) -> TokenRequest {
    Fixture.tokenRequest([
      "grant_type": Self.grant, "client_id": client, "device_code": "sealed", "code": nil, "redirect_uri": nil,
      "code_verifier": nil, "resource": resource,
    ])
  }

  private func devicePoll(_ client: String, resource: String? = nil, policy: Policy) throws -> DevicePoll {
    let outcome = Enforcement.decideToken(pollRequest(client, resource: resource), policy: policy)
    guard case .device(let poll) = outcome.permit else { throw NotAPoll() }
    return poll
  }

  private struct NotAPoll: Error {}

  @Test("8628-3.1-request: a client with the grant may start a flow, with or without a scope")
  func permitted() throws {
    let permit = try #require(start().permit)
    #expect(permit.client.id == ClientID("tv1"))
    #expect(permit.scope?.text == "read")
    #expect(try #require(start("client_id=tv1").permit).scope == nil)
    // HTTP Basic with an empty secret, as some libraries send it.
    #expect(start("scope=read", authorization: ["Basic dHYxOg=="]).permit != nil)
  }

  // MARK: Resources

  private static let listed = "https://api.example.com/"
  private static let alias = "https://api.example.com"
  private static let other = "https://files.example.com/"

  /// A policy with two resources. The first one has an upstream client of its own, an audience and a scope.
  private static func resources(
    deviceAuthorization: [String] = [], lists: [String] = [listed, other]
  ) throws -> Policy {
    var (api, files) = (Fixture.resource, Fixture.resource)
    api.upstream.client = UpstreamClient(
      clientID: ClientID("legacy-api"), clientSecret: Secret("held-api"), authentication: .basic,
      redirectURI: .callback)
    api.upstream.audience = "urn:api"
    api.upstream.scope = Scope(parsing: "api")
    files.uri = try #require(ResourceURI(parsing: other))
    files.aliases = []
    return Fixture.policy(
      resources: [api, files].filter { lists.contains($0.uri.text) }, deviceAuthorization: deviceAuthorization
    ) { $0.grants.insert(.deviceCode) }
  }

  private func startForm(_ resources: String...) -> String {
    FormEncoding.serialise(
      [FormParameters.Entry(.clientID, "tv1"), FormParameters.Entry(.scope, "read")]
        + resources.map { FormParameters.Entry(.resource, $0) })
  }

  @Test("8707-2: a device may name one listed resource, and gets invalid_target for any other")
  func resource() throws {
    let policy = try Self.resources()
    for name in [Self.listed, Self.alias] {
      let permit = try #require(start(startForm(name), policy: policy).permit)
      #expect(permit.resource?.uri.text == Self.listed)
      #expect(permit.client.upstream.clientID == ClientID("legacy-api"))
    }
    #expect(start(startForm(Self.listed, Self.alias), policy: policy).permit != nil)
    for (names, rejection) in [
      (startForm("https://evil.example/"), Rejection.resourceUnknown),
      (startForm("https://api.example.com/X"), .resourceUnknown),
      (startForm(Self.listed, Self.other), .resourceRepeated),
    ] {
      let refused = start(names, policy: policy)
      #expect(refused.rejection == rejection)
      #expect(refused.refusal?.errorCode == .invalidTarget)
    }
    let without = try #require(start(startForm(""), policy: policy).permit)
    #expect(without.resource == nil && without.client.upstream.clientID == ClientID("legacy-tv1"))
  }

  @Test("8707-2: a poll names the resource of the flow or none, and a flow without a resource has none")
  func resourceOfPoll() throws {
    let policy = try Self.resources()
    var deviceCode = Self.deviceCode
    deviceCode.resource = Self.listed
    for name in [nil, "", Self.listed, Self.alias] {
      #expect(try poll("tv1", .value(deviceCode), resource: name, policy: policy).permit != nil)
    }
    let refused = try poll("tv1", .value(deviceCode), resource: Self.other, policy: policy)
    #expect(refused.rejection == .resourceNotGranted)
    #expect(refused.refusal?.errorCode == .invalidTarget)
    #expect(try poll(resource: Self.listed, policy: policy).rejection == .resourceNotGranted)
    let unlisted = Enforcement.decideToken(pollRequest("tv1", resource: "https://evil.example/"), policy: policy)
    #expect(unlisted.rejection == .resourceUnknown)
    let fewer = try Self.resources(lists: [Self.other])
    #expect(try poll("tv1", .value(deviceCode), policy: fewer).rejection == .codeOutdated)
  }

  @Test("The sign-in of a device asks the server for the resource of the flow, as its own client")
  func resourceOfSignIn() throws {
    let code = try #require(UserCode(typed: "BCDF-GHJK"))
    let flow = DeviceFlow(
      clientID: ClientID("tv1"), scope: Scope(parsing: "read"), resource: Self.listed, userCode: code,
      network: "192.0.2.0/24", start: Fixture.now, expiry: Fixture.now + 600)
    let permit = try #require(Enforcement.permitSignIn(for: flow, policy: try Self.resources()))
    let query = permit.upstreamQuery(state: "s")
    for part in ["client_id=legacy-api", "audience=urn%3Aapi", "scope=read%20api"] {
      #expect(query.contains(part), "\(query)")
    }
    #expect(permit.resource?.uri.text == Self.listed)
    #expect(Enforcement.permitSignIn(for: flow, policy: try Self.resources(lists: [Self.other])) == nil)
  }

  @Test("An approved code is redeemed for the resource of the flow alone, and its refresh token is sealed")
  func resourceOfRedemption() throws {
    let policy = try Self.resources()
    var deviceCode = Self.deviceCode
    deviceCode.resource = Self.listed
    let permit = try #require(try poll("tv1", .value(deviceCode), policy: policy).permit)
    var code = Fixture.code
    code.clientID = ClientID("tv1")
    code.upstreamClientID = ClientID("legacy-api")
    #expect(Enforcement.decideDeviceRedemption(permit, code: code, policy: policy).rejection == .codeOutdated)
    code.resource = Self.listed
    let redemption = try #require(Enforcement.decideDeviceRedemption(permit, code: code, policy: policy).permit)
    #expect(redemption.target.resource?.uri.text == Self.listed)
    #expect(redemption.binding.resource == Self.listed)
    #expect(redemption.sealsRefreshToken)
    let header = try #require(redemption.upstream.authorization)
    #expect(try BasicCredentials(parsing: header.reveal()).user == "legacy-api")
    code.upstreamClientID = ClientID("legacy-tv1")
    #expect(Enforcement.decideDeviceRedemption(permit, code: code, policy: policy).rejection == .codeOutdated)
  }

  @Test("A forwarded flow asks the server for the resource, and its tokens are for this resource")
  func resourceOfForwarded() throws {
    let policy = try Self.resources(deviceAuthorization: ["/device"])
    let form = try #require(start(startForm(Self.listed), policy: policy).permit?.upstream)
    #expect(form.body.reveal() == "scope=read%20api&audience=urn%3Aapi")
    let header = try #require(form.authorization)
    #expect(try BasicCredentials(parsing: header.reveal()).user == "legacy-api")
    var deviceCode = Self.deviceCode
    deviceCode.resource = Self.listed
    deviceCode.upstream = UpstreamDeviceCode(
      code: Secret("upstream-device"), upstreamClientID: ClientID("legacy-api"), scope: Scope(parsing: "read"),
      epoch: Fixture.epoch)
    let permit = try #require(try poll("tv1", .value(deviceCode), policy: policy).permit)
    let redemption = try #require(Enforcement.upstreamPoll(permit, policy: policy))
    #expect(redemption.target.resource?.uri.text == Self.listed)
    #expect(redemption.binding.resource == Self.listed)
  }

  // MARK: Clients and parameters

  @Test("8628-3.1-allowed: a client without the grant may not start a flow")
  func grantNotAllowed() {
    #expect(start("client_id=n1&scope=read").rejection == .grantNotAllowed)
    #expect(start("client_id=n1").refusal?.errorCode == .unauthorizedClient)
    let policy = Fixture.policy { $0.grants.remove(.deviceCode) }
    #expect(start(policy: policy).rejection == .grantNotAllowed)
  }

  @Test("8628-3.1-client: an unknown client and wrong or ambiguous credentials are refused")
  func client() {
    #expect(start("scope=read").rejection == .clientUnidentified)
    #expect(start("client_id=nobody").rejection == .clientNotKnownAtToken)
    #expect(start("client_id=legacy-tv1").rejection == .clientIDOfUpstreamAtToken)
    #expect(start("client_id=n1", authorization: ["Basic dHYxOg=="]).rejection == .multipleAuthenticationMethods)
    #expect(start(authorization: ["Basic %%%"]).rejection == .clientAuthenticationMalformed)
    let policy = Fixture.policy { $0.grants.insert(.deviceCode) }
    #expect(start("client_id=w1", policy: policy).rejection == .clientUnauthenticated)
    #expect(start("client_id=w1&client_secret=wrong", policy: policy).rejection == .clientAuthenticationFailed)
    #expect(start("client_id=w1&client_secret=w1secret", policy: policy).permit != nil)
  }

  @Test("8628-3.1-params: a request that can be read in two ways is refused")
  func oneReading() {
    #expect(start(method: "GET").rejection == .methodNotAllowed)
    #expect(start(query: "client_id=tv1").rejection == .tokenParametersInQuery)
    #expect(start(contentType: "application/json").rejection == .bodyNotForm)
    #expect(start("client_id=tv1&client_id=tv1").rejection == .parameterRepeated)
    #expect(start("client_id=tv1&Scope=admin").rejection == .parameterSpelling)
    #expect(start("client_id=tv1&scope=%zz").rejection == .parameterMalformed)
    #expect(start("client_id=tv1&scope=%22").rejection == .scopeMalformed)
  }

  @Test("A device that asks for a token bound to its key is refused, and a client certificate is noted")
  func boundTokens() {
    #expect(start(hasDPoPProof: true).rejection == .dpopUnsupported)
    let certified = start(hasClientCertificate: true)
    #expect(certified.permit != nil)
    #expect(certified.findings == [.note(.clientCertificateDropped)])
  }

  @Test("Parameters of a device that do not go to the server are noted")
  func dropped() {
    let scopes = Fixture.policy(scopes: ScopeRules(drop: ["openid"]))
    #expect(start("client_id=tv1&scope=openid+read", policy: scopes).findings == [.note(.scopeDropped)])
    #expect(start("client_id=tv1&resource=https%3A%2F%2Fapi.example").findings == [.note(.resourceDropped)])
    let details = start("client_id=tv1&authorization_details=%5B%5D")
    #expect(details.findings == [.note(.authorizationDetailsDropped)])
  }

  @Test("8628-3.4-client-binding: only the client that started the flow may poll")
  func clientBinding() throws {
    let permit = try #require(try poll().permit)
    #expect(permit.client.id == ClientID("tv1"))
    #expect(permit.deviceCode == Self.deviceCode)
    let other = try poll("n1")
    #expect(other.rejection == .deviceCodeIssuedToOtherClient)
    #expect(other.refusal?.errorCode == .invalidGrant)
  }

  @Test("8628-3.5-expired: a device code can be used until it expires, and not at that second")
  func expiry() throws {
    #expect(try poll(now: Fixture.now + 599).permit != nil)
    let expired = try poll(now: Self.deviceCode.expiry)
    #expect(expired.rejection == .deviceCodeExpired)
    #expect(expired.refusal?.errorCode == .expiredToken)
  }

  @Test("I-credentials: a forwarded poll has the gateway's credentials, as long as the client has the same upstream id")
  func forwardedPoll() throws {
    var deviceCode = Self.deviceCode
    deviceCode.upstream = UpstreamDeviceCode(
      code: Secret("upstream-device"), upstreamClientID: ClientID("legacy-tv1"), scope: Scope(parsing: "read"),
      epoch: Fixture.epoch)
    let pollPermit = try #require(try poll("tv1", .value(deviceCode)).permit)
    let permit = try #require(Enforcement.upstreamPoll(pollPermit, policy: Fixture.policy()))
    #expect(permit.redeemed == .deviceCode)
    #expect(permit.sealsRefreshToken)
    #expect(permit.upstream.authorization != nil)
    let body = permit.upstream.body.reveal()
    #expect(body.contains("device_code=upstream-device") && !body.contains("sealed"))
    #expect(permit.upstream.hiddenTexts.contains { $0.reveal() == "upstream-device" })
    deviceCode.upstream?.upstreamClientID = ClientID("legacy-other")
    #expect(try poll("tv1", .value(deviceCode)).rejection == .codeOutdated)
  }

  @Test("A request for the server's own endpoint has the client of the server, and its scope rules")
  func forwardedStart() throws {
    #expect(try #require(start().permit).upstream == nil)
    let policy = Fixture.policy(scopes: ScopeRules(drop: ["openid"]), deviceAuthorization: ["/device"])
    let form = try #require(start("client_id=tv1&scope=openid+read", policy: policy).permit?.upstream)
    #expect(form.body.reveal() == "scope=read")
    let header = try #require(form.authorization)
    let basic = try BasicCredentials(parsing: header.reveal())
    #expect(basic.user == "legacy-tv1" && basic.password.reveal() == "held-tv1")
    #expect(start("client_id=n1", policy: policy).rejection == .grantNotAllowed)
  }

  @Test("8628-3.4-params: a device code that the gateway cannot open is refused, with 503 if a key is missing")
  func unknown() throws {
    #expect(try poll("tv1", .invalid).rejection == .deviceCodeUnknown)
    #expect(try poll("tv1", .keyUnknown).rejection?.status == 503)
  }

  @Test("I-credentials: an approved code is redeemed with the gateway's credentials, and only for its client")
  func redemption() throws {
    var code = Fixture.code
    let policy = Fixture.policy { $0.grants.insert(.deviceCode) }
    var deviceCode = Self.deviceCode
    deviceCode.clientID = ClientID("n1")
    let poll = try #require(try self.poll("n1", .value(deviceCode)).permit)
    let permit = try #require(Enforcement.decideDeviceRedemption(poll, code: code, policy: policy).permit)
    #expect(permit.redeemed == .codeOfDevice)
    #expect(permit.sealsRefreshToken)
    #expect(permit.upstream.authorization != nil)
    #expect(permit.upstream.body.reveal().contains("code=upstream-code"))
    code.upstreamClientID = ClientID("legacy-other")
    #expect(Enforcement.decideDeviceRedemption(poll, code: code, policy: policy).rejection == .codeOutdated)
  }
}
