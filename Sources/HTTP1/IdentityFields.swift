internal import ByteText

/// Request fields that servers and single sign-on products accept as proof of the client's identity or address
/// (`I-transport`).
///
/// A server that was once deployed behind such a product logs in the user that the field names. So only a trusted proxy
/// may send these fields; from every other peer they are dropped. The same applies to names with characters other than
/// letters, digits and hyphens: servers that make a variable of the name (CGI, PHP, WSGI, Java filters) read `X_Case`
/// as `X-Case`.
public final class IdentityFields: Sendable {
  private let builtInGlobs = FieldNameGlobs(IdentityFields.builtIn)
  private let strippedGlobs: FieldNameGlobs
  private let keptGlobs: FieldNameGlobs

  /// Creates the set of dropped fields.
  ///
  /// - Parameters:
  ///   - strip: globs of names to drop in addition to the built-in ones.
  ///   - keep: globs of names to keep although a built-in glob matches or the name contains an `_`.
  public init(strip: [String] = [], keep: [String] = []) {
    strippedGlobs = FieldNameGlobs(strip)
    keptGlobs = FieldNameGlobs(keep)
  }

  /// True if `field`, one of `fields`, may be forwarded to the upstream, as far as the rules of this type are
  /// concerned.
  ///
  /// Not even a trusted proxy may send `X_Case` together with `X-Case`: few proxies remove the former when they set the
  /// latter, and a server that folds names uses one of the two.
  public func passes(_ field: HeadIndex.Field, of fields: HeadIndex, _ bytes: Span<UInt8>, isTrusted: Bool) -> Bool {
    if field.known == .irregular, fields.isShadow(field, bytes) { return false }
    return isTrusted || !drops(field, bytes)
  }

  /// Returns the reason why a field is dropped: its known name, the glob that matches it, or `irregular` for a name
  /// with characters other than letters, digits and hyphens. The reason contains no other text of the request. Returns
  /// `nil` for a field that is forwarded, and for fields that the gateway replaces.
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
    // The name is in the table of known names, in any letter case.
    case .assertion, .identity: return String(decoding: field.name.map { bytes[$0].lowercasedASCII }, as: UTF8.self)
    default:
      return strippedGlobs.glob(matching: bytes, field.name) ?? builtInGlobs.glob(matching: bytes, field.name)
        ?? IdentityFields.irregular
    }
  }

  private static let irregular = "irregular"

  private func drops(_ field: HeadIndex.Field, _ bytes: Span<UInt8>) -> Bool {
    switch field.known {
    // The gateway reads or writes these fields itself, or OAuth needs them.
    case .host, .contentLength, .transferEncoding, .connection, .keepAlive, .proxyConnection, .te, .trailer, .upgrade,
      .http2Settings, .expect, .via, .cookie, .authorization, .contentType, .contentEncoding:
      return false
    case .identity, .irregular:
      return !keptGlobs.matches(bytes, field.name) || strippedGlobs.matches(bytes, field.name)
    case .none:
      return builtInGlobs.matches(bytes, field.name) && !keptGlobs.matches(bytes, field.name)
        || strippedGlobs.matches(bytes, field.name)
    default:
      return strippedGlobs.matches(bytes, field.name)
    }
  }

  /// Globs in addition to the `identity` names of `KnownFieldTable`.
  private static let builtIn = [
    // IBM Security Verify Access (WebSEAL), Broadcom SiteMinder, Oracle Access Manager and SSO, RSA Access Manager.
    "iv-*", "sm-*", "smuser*", "oam*", "osso-*", "ct-remote-user", "ct-auth-*",
    // WebSphere's private headers (`$WSRU`, `$WSCC`, ...) and those of WebLogic's plug-in.
    "$ws*", "wl-proxy-*", "x-weblogic-*",
    // IIS, ASP.NET Core and Azure.
    "x-arr-*", "x-iis-*", "ms-aspnetcore-*", "x-ms-client-*", "x-ms-token-*", "x-azure-*",
    // Amazon's and Google's load balancers, Cloudflare, Fastly, Envoy, Tailscale.
    "x-amzn-oidc-*", "x-amzn-mtls-*", "x-goog-authenticated-*", "x-goog-iap-*", "x-appengine-*", "x-apigateway-*",
    "x-endpoint-api-userinfo", "cf-access-authenticated-*", "cf-access-jwt-*", "cf-connecting-*", "x-envoy-*",
    "tailscale-user-*",
    // Modules of Apache and nginx, Shibboleth, CAS, and authenticating gateways.
    "x-webauth-*", "webauth-*", "oidc-*", "mellon-*", "shib-*", "shibboleth-*", "eppn", "cas-user*", "x-cas-*", "ajp-*",
    "auth-user*", "x-auth-request-*", "x-auth-user*", "x-auth-email", "x-auth-groups", "x-auth-roles", "x-auth-name",
    "x-auth-subject", "x-authenticated-*", "x-authentik-*", "x-pomerium-*", "x-vouch-*", "x-sso-*", "x-consumer-*",
    "x-credential-*", "x-anonymous-consumer", "x-userinfo", "x-trusted-*", "proxy-user*", "proxy-remote-user",
    // The client's identity or address, as CGI variables and proxies of all kinds name it.
    "remote-*", "x-remote-*", "x-real-*", "x-forwarded-*", "x-original-*", "x-proxyuser-*", "x-originating-ip",
    "*client-ip", "*clientip",
    // Client certificates and the TLS connection.
    "ssl-*", "x-ssl*", "x-tls-*", "*client-cert*", "*clientcert*", "*-s-dn", "*-i-dn", "*client-dn", "*client-cn",
    "*subject-dn", "*issuer-dn",
  ]
}
