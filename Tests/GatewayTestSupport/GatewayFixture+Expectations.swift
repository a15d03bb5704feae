import Demo
public import HTTP
public import LegacyServer
public import Testing

extension GatewayFixture {
  /// Sends a request that the gateway must refuse by itself, and records an issue if the upstream is contacted.
  ///
  /// - Parameter status: The expected status; if nil, any of 4xx and 5xx, or a redirect.
  @discardableResult
  public func expectRefused(
    _ request: Request, status: Int? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Response {
    let before = upstream.recorder.count
    let response = try await send(request)
    #expect(upstream.recorder.count == before, "the upstream was contacted", sourceLocation: sourceLocation)
    if let status {
      #expect(response.status == status, "\(response.text)", sourceLocation: sourceLocation)
    } else {
      #expect(response.status >= 300, sourceLocation: sourceLocation)
    }
    return response
  }

  /// Does the same for a GET request.
  @discardableResult
  public func expectRefused(
    get target: String, _ headers: Headers = Headers(), status: Int? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Response {
    try await expectRefused(
      Request(method: "GET", target: target, headers: headers), status: status, sourceLocation: sourceLocation)
  }

  /// Does the same for a POST request with a form as its body.
  @discardableResult
  public func expectRefused(
    post target: String, _ form: Form, _ headers: Headers = Headers(), status: Int? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Response {
    var headers = headers
    if !headers.contains("Content-Type") { headers.append("Content-Type", "application/x-www-form-urlencoded") }
    return try await expectRefused(
      Request(method: "POST", target: target, headers: headers, body: Array(form.encoded.utf8)), status: status,
      sourceLocation: sourceLocation)
  }
}

extension Response {
  /// The parameters of an error redirect to this URI; records an issue if the response is not one.
  public func expectErrorRedirect(
    to redirectURI: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Form {
    #expect([302, 303].contains(status), "\(text)", sourceLocation: sourceLocation)
    let location = try #require(location, sourceLocation: sourceLocation)
    let separator = redirectURI.contains("?") ? "&" : "?"
    try #require(location.hasPrefix(redirectURI + separator), "\(location)", sourceLocation: sourceLocation)
    return Form(decoding: location.dropFirst(redirectURI.count + 1))
  }

  /// Records an issue unless the response has this status and the `error` of its JSON body is this one.
  public func expectTokenError(
    _ status: Int, _ error: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(self.status == status, "\(text)", sourceLocation: sourceLocation)
    #expect(NativeApp.error(in: self) == error, "\(text)", sourceLocation: sourceLocation)
  }
}
