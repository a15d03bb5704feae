internal import ByteText
import HTTP1
import Reactor

/// Writes the head of a request for the upstream, from the received head.
enum RequestRewriter {
  /// The facts about the request that `write` has found while it wrote the fields.
  struct Written {
    /// True if the request carried the handler's own cookie.
    var requestHasHandlerCookie = false
    /// A parameter that some server may read in a cookie (`ProxyConfiguration.cookieParameter`); `nil` if there is none.
    var cookieParameter: String?
    /// True if a field was dropped because this client may not send it.
    var dropsFields = false
    /// True if the client accepts trailers: it says so, or it uses HTTP/2, which carries them in any response.
    var acceptsTrailers = false
  }

  /// Writes `head` into the empty `buffer`, without the framing field and the empty line. `writeEnd` adds both.
  ///
  /// The `X-Request-ID` fields of the request are left out if the configuration adds such lines; the caller then appends
  /// the line.
  ///
  /// The result fits: a head is at most `Buffer.readSize` bytes long, and the added fields take less than
  /// `Buffer.slack`.
  static func write(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ identity: ClientIdentity,
    _ settings: CompiledProxyConfiguration, to buffer: Buffer
  ) -> Written {
    buffer.append(bytes, in: head.methodRange)
    buffer.append(0x20)
    if head.target.isEmpty {
      buffer.append(RequestReader.emptyTarget(head))
    } else {
      buffer.append(bytes, in: head.target)
    }
    buffer.append(" HTTP/1.1\r\n")
    buffer.append(settings.hostLine)
    var written = Written()
    for index in 0..<fields.count where !fields[index].isNamedByConnection {
      let field = fields[index]
      switch field.known {
      case .host, .contentLength, .transferEncoding, .connection, .keepAlive, .proxyConnection, .te, .trailer,
        .upgrade, .http2Settings, .expect, .forwarded, .forwardedFor, .forwardedProto, .forwardedHost:
        continue
      case .requestOverride, .disguised:
        written.dropsFields = true
        continue
      case .cookie:
        let found = CookieFilter.search(bytes, field.value, settings)
        if found.hasOwn { written.requestHasHandlerCookie = true }
        if let parameter = found.parameter { written.cookieParameter = parameter }
        if found.hasOwn || found.parameter != nil && settings.configuration.dropsParameterCookies {
          CookieFilter.appendPermitted(field.value, of: bytes, settings, to: buffer)
          continue
        }
      // Nearly all fields of nearly all requests take this branch.
      case .common where settings.passesCommonFields: break
      case .requestID where settings.configuration.addsRequestIDs: continue
      default:
        guard settings.identityFields.mayForward(field, of: fields, bytes, isTrusted: identity.isTrusted) else {
          written.dropsFields = true
          continue
        }
      }
      append(field, bytes, to: buffer)
    }
    if identity.isHTTP2 {
      written.acceptsTrailers = true
      buffer.append(settings.viaLineOfHTTP2)
    } else if head.minorVersion == 1 {
      buffer.append(settings.viaLineOfHTTP11)
    } else {
      buffer.append(settings.viaLineOfHTTP10)
    }
    identity.appendFields(to: buffer, bytes, head, fields)
    if let upgrade = allowedUpgrade(head, bytes, settings) {
      buffer.append("Connection: upgrade\r\nUpgrade: ")
      buffer.append(bytes, in: upgrade)
      buffer.append("\r\n")
    } else if fields.has(.te), head.minorVersion == 1,
      identity.isHTTP2 || lists("te", in: .connection, bytes, fields), lists("trailers", in: .te, bytes, fields)
    {
      written.acceptsTrailers = true
      // `writeEnd` adds `Connection: close` to such a request. Some servers read only the first `Connection` field.
      if !closesAfterBody(head.method, head.body) { buffer.append("TE: trailers\r\nConnection: TE\r\n") }
    }
    return written
  }

  /// True if a field of this kind lists the word, which is in lower case.
  ///
  /// `TE` lists `trailers` if the client accepts trailers (RFC 9110, section 10.1.4). An HTTP/1.1 client also lists `TE`
  /// in `Connection`; otherwise a proxy that does not know `TE` may have forwarded it.
  private static func lists(
    _ word: String, in known: KnownField, _ bytes: Span<UInt8>, _ fields: HeadIndex
  ) -> Bool {
    for field in fields where field.known == known {
      var position = field.value.lowerBound
      while position < field.value.upperBound {
        let start = position
        while position < field.value.upperBound, bytes[position] != 0x2c { position += 1 }
        if HeadIndex.equalIgnoringCase(bytes, bytes.trimmed(start..<position), word) { return true }
        position += 1
      }
    }
    return false
  }

  /// Writes the end of a head: the framing of the body and the empty line.
  static func writeEnd(_ method: Method, _ body: BodyFraming, to buffer: Buffer) {
    switch body {
    case .length(let count):
      buffer.append("Content-Length: ")
      buffer.append(decimal: count)
      buffer.append("\r\n")
    case .chunked: buffer.append("Transfer-Encoding: chunked\r\n")
    case .none, .untilClose:
      if method == .post || method == .put || method == .patch { buffer.append("Content-Length: 0\r\n") }
    }
    if closesAfterBody(method, body) { buffer.append("Connection: close\r\n") }
    buffer.append("\r\n")
  }

  /// True if the server must close the connection after the request: it may leave the body unread, and must not parse it
  /// as a request that no rule has checked.
  private static func closesAfterBody(_ method: Method, _ body: BodyFraming) -> Bool {
    body != .none && !method.serversReadContent
  }

  /// Returns the range of the value of `Upgrade` if the configuration allows this protocol and the request is a GET
  /// without a body.
  static func allowedUpgrade(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ settings: CompiledProxyConfiguration
  ) -> Range<Int>? {
    guard let upgrade = head.upgrade, head.body == .none, head.method == .get else { return nil }
    return settings.configuration.upgrades.contains { HeadIndex.equalIgnoringCase(bytes, upgrade, $0) } ? upgrade : nil
  }

  static func append(_ field: HeadIndex.Field, _ bytes: Span<UInt8>, to buffer: Buffer) {
    buffer.appendField(bytes, name: field.name, value: field.value)
  }

  /// True if a `Via` of the request contains this gateway's name, so the request has already passed this gateway (RFC
  /// 9110, section 7.6.3).
  static func isLoop(_ bytes: Span<UInt8>, _ fields: HeadIndex, _ settings: CompiledProxyConfiguration) -> Bool {
    let pseudonym = settings.lowercasePseudonym
    for field in fields where field.known == .via {
      var position = field.value.lowerBound
      while position < field.value.upperBound {
        let start = position
        while position < field.value.upperBound, bytes[position] != 0x20, bytes[position] != 0x2c { position += 1 }
        if HeadIndex.equalIgnoringCase(bytes, start..<position, pseudonym) { return true }
        position += 1
      }
    }
    return false
  }
}
