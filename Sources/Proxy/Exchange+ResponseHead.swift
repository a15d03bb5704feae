import AccessLog
import HTTP
import HTTP1
import Reactor
import Time

/// The start of a response: the head is checked and rewritten, and the framing of the body is derived from the head.
extension Exchange {
  /// Parses the head and begins the response. Returns `nil` if the head is not complete yet.
  func beginResponse(
    _ upstream: UpstreamConnection, _ head: RequestHead
  ) throws(Failure) -> ExchangeState.Event? {
    guard !upstream.input.isEmpty else { return nil }
    let parsed: ResponseHead?
    do throws(UpstreamFailure) {
      parsed = try reader.parse(
        upstream.input, to: head.method, acceptsSwitch: state.asksForSwitch,
        returnsHints: worker.settings.configuration.earlyHints && head.minorVersion == 1,
        limits: worker.settings.configuration.limits.responseHead, into: responseFields)
    } catch {
      throw .upstream(error)
    }
    guard let parsed else { return nil }
    if parsed.status == 103 {
      try forwardHints(parsed, upstream.input)
      // The reader accepts at most `ResponseHeadReader.interimLimit` of them.
      return try beginResponse(upstream, head)
    }
    if state.awaitsResponse, parsed.status >= 500 || upstream.target.address.hasFailures {
      pool.noteStatus(parsed.status, upstream)
    }
    let duration = (poller.turnBegan - began).count
    metrics.upstreamAnswered(nanoseconds: duration)
    if let entry = clientConnection.accessEntry { entry.upstreamFirstByte = duration }
    let input = upstream.input
    if state.isUploading { dropUnsentRequest() }
    if let route { input.withSpan { responseFields.remove(route.responseFields.names, $0) } }
    if parsed.status == 101 { return beginTunnel(parsed, input, head) }
    var cookies: [[UInt8]] = []
    if pool.targets.count > 1 {
      answeringAddress = upstream.target.address.id
      cookies = worker.addressCookies(input, of: upstream)
    }
    let hasForeignDomain = responseFields.has(.setCookie) && hasForeignCookieDomain(input)
    if hasForeignDomain { worker.handler.found(.foreignCookieDomain, request: clientConnection.reference) }
    // The handler may edit the response to a request with its own cookie (`editPassing`), and needs a value for this.
    if requestHasHandlerCookie {
      var edited = worker.response(from: parsed, input)
      for (name, field) in [
        ("Location", KnownField.location), ("Refresh", .refresh), ("Content-Location", .contentLocation),
      ] {
        guard let location = edited.headers[name] else { continue }
        guard edited.headers.all(name).count == 1 else { throw .upstream(.malformed("more than one \(name) field")) }
        switch outcome(for: location, in: field, parsed, head) {
        case .keep: break
        case .replace(let replacement): edited.headers.set(name, replacement)
        case .withhold: throw .withheld(worker.response(from: parsed, input))
        case .unencodable: throw .upstream(.malformed("a location whose replacement cannot be written"))
        }
      }
      if withholds(links: edited.headers.all("Link")) { throw .withheld(worker.response(from: parsed, input)) }
      // The handler's own changes come last.
      for field in route?.responseFields.set ?? [] { edited.headers.set(field.name, field.value) }
      worker.handler.editPassing(&edited)
      for cookie in cookies { edited.headers.append("Set-Cookie", FieldText.decode(cookie)) }
      if worker.settings.configuration.addsRequestIDs {
        edited.headers.set(RequestReference.fieldName, worker.handler.requestID(clientConnection.reference))
      }
      input.consume(parsed.length)
      return try beginFromValue(edited, parsed, head)
    } else {
      let dropsDomains = hasForeignDomain && worker.settings.configuration.dropsForeignCookieDomains
      return try beginFromBytes(parsed, input, head, cookies, dropsCookieDomains: dropsDomains)
    }
  }

  /// True if a cookie of the response has a `Domain` because of which browsers reject it.
  private func hasForeignCookieDomain(_ input: Buffer) -> Bool {
    let host = worker.settings.configuration.cookieHost
    return input.withSpan { bytes in
      for field in responseFields
      where field.known == .setCookie && CookieFilter.foreignDomain(bytes, field.value, host) != nil {
        return true
      }
      return false
    }
  }

  /// Begins a response by rewriting the bytes of its head, without a `Response` value, which would cost time.
  private func beginFromBytes(
    _ parsed: ResponseHead, _ input: Buffer, _ head: RequestHead, _ cookies: [[UInt8]], dropsCookieDomains: Bool
  ) throws(Failure) -> ExchangeState.Event {
    let (fields, settings) = (responseFields, worker.settings)
    let replacements =
      fields.hasLocationOrLink
      ? try checkURLFields(parsed, input, fields, head) : ResponseRewriter.Replacements()
    let additions = additions(to: fields, cookies)
    let added =
      replacements.byteCount + ResponseRewriter.growth(of: fields, settings) + (additions?.byteCount ?? 0)
    // 256 bytes are enough for the framing and `Connection` fields.
    guard parsed.length + added + 256 <= Buffer.capacity else {
      throw .upstream(.malformed("a head that leaves no room for the gateway's own fields"))
    }
    status = parsed.status
    let framing = ResponseRewriter.Framing(
      parsed.body, announcedLength: parsed.announcedLength, minorVersion: head.minorVersion)
    let keepsAlive = recordStart(framing)
    let (framingField, minorVersion) = (framing.field, head.minorVersion)
    func write(to sink: some ResponseHeadSink) {
      input.withSpan { bytes in
        ResponseRewriter.write(
          parsed, bytes, fields, framingField, keepsAlive: keepsAlive, minorVersion: minorVersion, replacements,
          additions, dropsCookieDomains: dropsCookieDomains, settings, to: sink)
      }
    }
    if let stream {
      guard stream.respond(framing.body, { write(to: $0) }) else { throw .state(.clientGone) }
    } else {
      write(to: toClient)
    }
    sent = -toClient.count
    input.consume(parsed.length)
    download = framing.pump
    download.keepsTrailers = keepsTrailers(framing, parsed)
    keepHead(head)
    return .began(upstreamKeepsAlive: parsed.keepsAlive)
  }

  /// Returns the fields to add to a response with these `fields`; `nil` if there are none.
  private func additions(to fields: HeadIndex, _ cookies: [[UInt8]]) -> ResponseRewriter.Additions? {
    let hasDate = fields.has(.date)
    if hasDate, cookies.isEmpty, requestIDLine.isEmpty, route == nil, !clientConnection.addsStrictTransport {
      return nil
    }
    return ResponseRewriter.Additions(
      date: hasDate ? [] : worker.dateLine, strictTransport: clientConnection.strictTransport,
      requestID: requestIDLine, cookies: cookies, lines: route?.responseFields.lines ?? [])
  }

  /// Checks the location and `Link` fields of a passing response. Returns the new values of the fields to replace.
  private func checkURLFields(
    _ parsed: ResponseHead, _ input: Buffer, _ fields: HeadIndex, _ head: RequestHead
  ) throws(Failure) -> ResponseRewriter.Replacements {
    var replacements = ResponseRewriter.Replacements()
    var links: [String] = []
    for field in fields where field.known.isLocation || field.known == .link {
      if field.known == .link {
        links.append(input.withSpan { RequestReader.text($0, field.value) })
        continue
      }
      // Clients disagree on which of two such fields to follow, so the response is rejected.
      guard fields.onlyValue(of: field.known) != nil else {
        throw .upstream(.malformed("more than one Location, Content-Location or Refresh field"))
      }
      let text = input.withSpan { RequestReader.text($0, field.value) }
      switch outcome(for: text, in: field.known, parsed, head) {
      case .keep: break
      case .replace(let replacement): replacements.set(field.known, replacement)
      case .withhold: throw .withheld(worker.response(from: parsed, input))
      case .unencodable: throw .upstream(.malformed("a location whose replacement cannot be written"))
      }
    }
    if withholds(links: links) { throw .withheld(worker.response(from: parsed, input)) }
    return replacements
  }

  /// Begins to relay a response to an intercepted request. Closes the upstream connection if the head cannot be
  /// written.
  func beginRelay(
    _ response: Response, _ parsed: ResponseHead, _ head: RequestHead, of upstream: UpstreamConnection
  ) throws(Failure) -> ExchangeState.Event {
    do throws(Failure) {
      return try beginFromValue(response, parsed, head)
    } catch {
      pool.retire(upstream)
      throw error
    }
  }

  /// Begins a response whose head is a `Response` value.
  private func beginFromValue(
    _ response: Response, _ parsed: ResponseHead, _ head: RequestHead
  ) throws(Failure) -> ExchangeState.Event {
    guard let fields = ResponseEncoder.fields(response.headers, strictTransport: clientConnection.strictTransport),
      fields.count + (response.reason?.utf8.count ?? 0) + ResponseEncoder.headOverhead <= Buffer.capacity
    else { throw .upstream(.malformed("a head that cannot be written, or that is too long")) }
    guard let line = ResponseEncoder.statusLine(response) else {
      throw .upstream(.malformed("a reason phrase that cannot be written"))
    }
    status = response.status
    let framing = ResponseRewriter.Framing(
      parsed.body, announcedLength: parsed.announcedLength, minorVersion: head.minorVersion)
    toClient.append(line)
    toClient.append(fields)
    if !response.headers.contains("Date") { toClient.append(worker.dateLine) }
    ResponseRewriter.appendEnd(
      framing.field, status: response.status, keepsAlive: recordStart(framing), minorVersion: head.minorVersion,
      to: toClient)
    sent = -toClient.count
    keepHead(head)
    let isBodyless = head.method == .head || response.status == 204 || response.status == 304
    if isBodyless, parsed.body != .none {
      // The response to the client has no body, but the upstream's has one: the handler sent another method than the
      // client's HEAD, or changed the status to 204 or 304. So the upstream's body must not be relayed.
      download = BodyPump(.none, as: .plain)
      return .began(upstreamKeepsAlive: false)
    }
    download = framing.pump
    download.keepsTrailers = keepsTrailers(framing, parsed)
    return .began(upstreamKeepsAlive: parsed.keepsAlive)
  }

  /// True if the trailers of the response are forwarded. `responseFields` contains the fields of its head.
  private func keepsTrailers(_ framing: ResponseRewriter.Framing, _ parsed: ResponseHead) -> Bool {
    acceptsTrailers && framing.body == .chunked && parsed.body == .chunked && !responseFields.hasRemovingOption
  }

  private func keepHead(_ head: RequestHead) {
    if state.isHeadInBuffer { keptHead = head.length }
  }

  /// Records that the response begins. Returns true if the client's connection stays open after it.
  private func recordStart(_ framing: ResponseRewriter.Framing) -> Bool {
    // `drainsSoon` is true during `drain_delay`, while the worker still accepts connections; `isDraining` is true
    // afterwards.
    if framing.needsClose || poller.isDraining || worker.drainsSoon { clientConnection.state.refuseFurtherRequests() }
    let keepsAlive = clientConnection.state.announcesKeepAlive
    if !keepsAlive { clientConnection.state.refuseFurtherRequests() }
    clientConnection.state.startedResponse()
    return keepsAlive
  }

  private func outcome(
    for location: String, in field: KnownField, _ parsed: ResponseHead, _ head: RequestHead
  ) -> LocationRewriter.Outcome {
    let facts = PassingResponseFacts(
      method: head.method, status: parsed.status, field: field, requestHasHandlerCookie: requestHasHandlerCookie,
      request: clientConnection.reference)
    return LocationRewriter.outcome(
      for: location, in: facts, path: { path(of: head) }, worker.handler, worker.settings.configuration)
  }

  func withholds(links: [String]) -> Bool {
    !links.isEmpty && worker.handler.withholdsLinks(links, requestHasHandlerCookie: requestHasHandlerCookie)
  }

  /// Forwards a 101 response. After it, bytes of the new protocol move in both directions until the connections end.
  private func beginTunnel(_ parsed: ResponseHead, _ input: Buffer, _ head: RequestHead) -> ExchangeState.Event {
    status = 101
    // Bytes that the client has sent after the head belong to the new protocol.
    if state.isHeadInBuffer { fromClient.consume(head.length) }
    toClient.append("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n")
    input.withSpan { bytes in
      for field in responseFields where !field.isNamedByConnection {
        switch field.known {
        case .connection, .keepAlive, .proxyConnection, .contentLength, .transferEncoding, .te, .trailer: continue
        case .setCookie where CookieFilter.sets(worker.settings.configuration.handlerCookie, bytes, field.value):
          continue
        default: RequestRewriter.append(field, bytes, to: toClient)
        }
      }
    }
    for line in route?.responseFields.lines ?? [] { toClient.append(line) }
    toClient.append("\r\n")
    sent = -toClient.count
    input.consume(parsed.length)
    clientConnection.state.refuseFurtherRequests()
    clientConnection.state.startedResponse()
    download = BodyPump(.untilClose, as: .plain)
    upload = BodyPump(.untilClose, as: .plain)
    return .switched
  }
}
