/// Request fields that servers and single sign-on products take for proof of who or where the client is (`I-transport`).
///
/// A server that once was behind such a product logs in whomever the field names. So only a trusted proxy may send them;
/// from every other peer they are dropped. The same holds for names with characters other than letters, digits and
/// hyphens: servers that make a variable of the name (CGI, PHP, WSGI, Java filters) read `X_Case` as `X-Case`.
public final class IdentityFields: Sendable {
  private let dropped = FieldNameGlobs(IdentityFields.builtIn)
  private let added: FieldNameGlobs
  private let kept: FieldNameGlobs

  /// - Parameters:
  ///   - strip: globs of names that are dropped besides the built-in ones.
  ///   - keep: globs of names that are not dropped although a built-in glob matches or the name has an `_`.
  public init(strip: [String] = [], keep: [String] = []) {
    added = FieldNameGlobs(strip)
    kept = FieldNameGlobs(keep)
  }

  /// True if `field`, one of `fields`, may go upstream.
  ///
  /// Not even a trusted proxy may send `X_Case` together with `X-Case`: few proxies remove the former when they set the
  /// latter, and the server takes one of both.
  public func passes(_ field: HeadIndex.Field, of fields: HeadIndex, _ bytes: Span<UInt8>, isTrusted: Bool) -> Bool {
    if field.known == .irregular, fields.isShadow(field, bytes) { return false }
    return isTrusted || !drops(field, bytes)
  }

  /// Returns how a field that does not go upstream was recognised: its known name, the glob that matches it, or `irregular`
  /// for a name with other characters than letters, digits and hyphens. Never other text of the request; `nil` for a field
  /// that goes upstream.
  public func dropped(
    _ field: HeadIndex.Field, of fields: HeadIndex, _ bytes: Span<UInt8>, isTrusted: Bool
  ) -> String? {
    switch field.known {
    case .host, .forwarded, .forwardedFor, .forwardedProto, .forwardedHost: return nil
    case .assertion: break
    case .disguised: return IdentityFields.irregular
    default:
      guard !passes(field, of: fields, bytes, isTrusted: isTrusted) else { return nil }
    }
    switch field.known {
    // The name is one of the table, in some case of its letters.
    case .assertion, .identity: return String(decoding: field.name.map { ASCII.lowercased(bytes[$0]) }, as: UTF8.self)
    default:
      return added.glob(matching: bytes, field.name) ?? dropped.glob(matching: bytes, field.name)
        ?? IdentityFields.irregular
    }
  }

  private static let irregular = "irregular"

  private func drops(_ field: HeadIndex.Field, _ bytes: Span<UInt8>) -> Bool {
    switch field.known {
    // The gateway reads or writes these itself, and OAuth needs them.
    case .host, .contentLength, .transferEncoding, .connection, .keepAlive, .proxyConnection, .te, .trailer, .upgrade,
      .http2Settings, .expect, .via, .cookie, .authorization, .contentType, .contentEncoding:
      return false
    case .identity, .irregular:
      return !kept.matches(bytes, field.name) || added.matches(bytes, field.name)
    case .none:
      return dropped.matches(bytes, field.name) && !kept.matches(bytes, field.name)
        || added.matches(bytes, field.name)
    default:
      return added.matches(bytes, field.name)
    }
  }

  /// Globs besides the names that `KnownFieldTable` has as `identity`.
  private static let builtIn = [
    // IBM Security Verify Access (WebSEAL), Broadcom SiteMinder, Oracle Access Manager and SSO, RSA Access Manager.
    "iv-*", "sm-*", "smuser*", "oam*", "osso-*", "ct-remote-user", "ct-auth-*",
    // WebSphere's private headers (`$WSRU`, `$WSCC`, ...) and WebLogic's of its plug-in.
    "$ws*", "wl-proxy-*", "x-weblogic-*",
    // IIS, ASP.NET Core and Azure.
    "x-arr-*", "x-iis-*", "ms-aspnetcore-*", "x-ms-client-*", "x-ms-token-*", "x-azure-*",
    // Amazon's and Google's load balancers, Cloudflare, Fastly, Envoy, Tailscale.
    "x-amzn-oidc-*", "x-amzn-mtls-*", "x-goog-authenticated-*", "x-goog-iap-*", "x-appengine-*", "x-apigateway-*",
    "x-endpoint-api-userinfo", "cf-access-authenticated-*", "cf-access-jwt-*", "cf-connecting-*", "x-envoy-*",
    "tailscale-user-*",
    // Apache's and nginx's modules, Shibboleth, CAS, and gateways that authenticate.
    "x-webauth-*", "webauth-*", "oidc-*", "mellon-*", "shib-*", "shibboleth-*", "eppn", "cas-user*", "x-cas-*", "ajp-*",
    "auth-user*", "x-auth-request-*", "x-auth-user*", "x-auth-email", "x-auth-groups", "x-auth-roles", "x-auth-name",
    "x-auth-subject", "x-authenticated-*", "x-authentik-*", "x-pomerium-*", "x-vouch-*", "x-sso-*", "x-consumer-*",
    "x-credential-*", "x-anonymous-consumer", "x-userinfo", "x-trusted-*", "proxy-user*", "proxy-remote-user",
    // Who the client is, as variables of CGI and proxies of every kind say it.
    "remote-*", "x-remote-*", "x-real-*", "x-forwarded-*", "x-original-*", "x-proxyuser-*", "x-originating-ip",
    "*client-ip", "*clientip",
    // Client certificates and the TLS connection.
    "ssl-*", "x-ssl*", "x-tls-*", "*client-cert*", "*clientcert*", "*-s-dn", "*-i-dn", "*client-dn", "*client-cn",
    "*subject-dn", "*issuer-dn",
  ]
}
