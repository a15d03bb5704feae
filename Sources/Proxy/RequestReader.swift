import HTTP
import HTTP1
import Reactor

/// Converts parsed heads to `Request` and `Headers` values.
enum RequestReader {
  /// Returns the request without its body. Omits hop-by-hop fields (RFC 9110, section 7.6.1), forwarding fields, and
  /// fields that this client may not send.
  static func read(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ identity: ClientIdentity,
    _ settings: CompiledProxyConfiguration, number: UInt64
  ) -> Request {
    var headers = Headers(capacity: fields.count)
    for field in fields where !field.isNamedByConnection {
      switch field.known {
      case .contentLength, .transferEncoding, .connection, .keepAlive, .proxyConnection, .te, .trailer, .upgrade,
        .http2Settings, .expect, .forwarded, .forwardedFor, .forwardedProto, .forwardedHost, .requestOverride,
        .disguised:
        continue
      default:
        guard settings.identityFields.mayForward(field, of: fields, bytes, isTrusted: identity.isTrusted) else {
          continue
        }
        headers.append(text(bytes, field.name), text(bytes, field.value))
      }
    }
    let client = identity.facts(bytes, fields, requestNumber: number)
    return Request(
      method: text(bytes, head.methodRange), target: head.target.isEmpty ? emptyTarget(head) : text(bytes, head.target),
      headers: headers, peer: client.peer, reference: client.reference)
  }

  /// Returns the target for an absolute URI without a path: `*`, the server as a whole, for OPTIONS (RFC 9112, section
  /// 3.2.4), otherwise `/`.
  static func emptyTarget(_ head: RequestHead) -> String { head.method == .options ? "*" : "/" }

  /// Returns the fields of an upstream response, without hop-by-hop fields and those that set the handler's own cookie.
  static func fields(_ bytes: Span<UInt8>, _ fields: HeadIndex, handlerCookie: String) -> Headers {
    var headers = Headers(capacity: fields.count)
    for field in fields where !field.isNamedByConnection {
      switch field.known {
      case .contentLength, .transferEncoding, .connection, .keepAlive, .proxyConnection, .te, .trailer, .upgrade,
        .http2Settings:
        continue
      case .setCookie where CookieFilter.sets(handlerCookie, bytes, field.value): continue
      default:
        headers.append(text(bytes, field.name), text(bytes, field.value))
      }
    }
    return headers
  }

  static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    FieldText.decode(bytes.extracting(range))
  }
}
