internal import ByteText

/// The rules for request fields that servers and single sign-on products accept as proof of the client's identity or
/// address (invariant `I-transport`).
///
/// A server that was once deployed behind such a product logs in the user that the field names. So only a trusted proxy
/// may send these fields, and fields from other peers are dropped. Fields whose names have characters other than
/// letters, digits and hyphens are also accepted only from a trusted proxy, because servers that turn field names into
/// variable names (CGI, PHP, WSGI, Java filters) read `X_Case` as `X-Case`.
public final class IdentityFields: Sendable {
  private let builtInGlobs = FieldNameGlobs(IdentityFields.builtIn)
  private let strippedGlobs: FieldNameGlobs
  private let keptGlobs: FieldNameGlobs

  /// Creates the rules.
  ///
  /// - Parameters:
  ///   - strip: Globs for names that are dropped in addition to the built-in ones.
  ///   - keep: Globs for names that are kept although a built-in name or glob matches them, or although they contain
  ///     characters other than letters, digits and hyphens. A name that `strip` matches too is dropped.
  public init(strip: [String] = [], keep: [String] = []) {
    strippedGlobs = FieldNameGlobs(strip)
    keptGlobs = FieldNameGlobs(keep)
  }

  /// Returns true if the rules of this type permit that `field`, one of `fields`, is forwarded to the upstream.
  /// `isTrusted` is true if a trusted proxy sent the request.
  ///
  /// If a request has both `X_Case` and `X-Case`, `X_Case` is dropped even if a trusted proxy sent it. Few proxies
  /// remove the client's `X_Case` when they set `X-Case`, and a server that folds names uses only one of the two.
  public func mayForward(
    _ field: HeadIndex.Field, of fields: HeadIndex, _ bytes: Span<UInt8>, isTrusted: Bool
  ) -> Bool {
    guard isTrusted || !drops(field, bytes) else { return false }
    return field.known != .irregular || !fields.foldsToNameOfOtherField(field, bytes)
  }

  /// Returns the name under which the log shows a dropped field. Returns `nil` for a field that is forwarded, and for a
  /// field that the gateway replaces.
  ///
  /// For a `requestOverride` or `identity` field, the result is the field's own name in lower case. For any other
  /// field, it is a glob that matches the name, or `irregular` for a name with characters other than letters, digits
  /// and hyphens. So the result contains no text that the sender can choose.
  public func droppedFieldName(
    for field: HeadIndex.Field, of fields: HeadIndex, _ bytes: Span<UInt8>, isTrusted: Bool
  ) -> String? {
    switch field.known {
    case .host, .forwarded, .forwardedFor, .forwardedProto, .forwardedHost: return nil
    case .requestOverride: break
    case .disguised: return IdentityFields.irregular
    default:
      guard !mayForward(field, of: fields, bytes, isTrusted: isTrusted) else { return nil }
    }
    switch field.known {
    // The name of such a field is in `KnownFieldTable`, so it may be logged.
    case .requestOverride, .identity:
      return String(decoding: field.name.map { bytes[$0].lowercasedASCII }, as: UTF8.self)
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

  /// The built-in globs. `KnownFieldTable` contains further names (`identity`).
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
