import FoundationEssentials
import HTTP1
import Testing

struct IdentityFieldTests {
  /// The names of these fields that may go upstream, without `Host`.
  private func passing(
    _ names: [String], _ fields: IdentityFields = IdentityFields(), isTrusted: Bool = false
  ) throws -> [String] {
    let lines = names.map { "\($0): x\r\n" }.joined()
    let parsed = try #require(try parseRequest("GET / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n"))
    var passing: [String] = []
    for (number, name) in parsed.names.enumerated().dropFirst()
    where fields.mayForward(parsed.index[number], of: parsed.index, parsed.bytes.span, isTrusted: isTrusted) {
      passing.append(name)
    }
    return passing
  }

  @Test(
    "A field that single sign-on products set is dropped unless a trusted proxy sends it",
    arguments: [
      "iv-user", "iv-groups", "iv-creds", "SM-USER", "SMUSER", "SM_USER", "OAM-Remote-User", "OAM_REMOTE_USER", "$WSRU",
      "$WSRA", "$WSCC", "WL-Proxy-Client-Cert", "WL-Proxy-Client-IP", "WL-Proxy-SSL", "X-ARR-ClientCert", "X-ARR-SSL",
      "X-MS-Client-Principal", "X-MS-CLIENT-PRINCIPAL-NAME", "X-Amzn-Oidc-Identity", "X-Amzn-Oidc-Data",
      "X-WEBAUTH-USER", "X-Client-DN", "Ssl-Client-S-Dn", "X-Tls-Client-Cert", "X-Forwarded-PathBase",
      "X-Forwarded-Client-Cert-Chain", "MS-ASPNETCORE-CLIENTCERT", "X-SSL", "X-Client-Verify-S-DN", "Remote-Groups",
      "REMOTE_USER", "X-Remote-Group", "X-Goog-Authenticated-User-Email", "Cf-Access-Authenticated-User-Email",
      "OIDC_CLAIM_sub", "MELLON_uid", "Shib-Identity-Provider", "Osso-User-Dn", "CT-REMOTE-USER", "X-Consumer-Username",
      "Fastly-Client-IP", "X-Azure-ClientIP", "X-Original-Remote-Addr", "X-Auth-User", "X-Auth-Email", "X-Real-IP",
      "X-User", "X-Kerberos-User", "X-Client-Verify", "X-JWT-Assertion", "X-Id-Token", "X-Access-Token",
      "Kong-Consumer", "X-HTTP-Host-Override", "X-Override-URL", "X-Rewrite-URI", "X-Replaced-Path",
      "X-HTTP-DestinationURL", "Base-Url", "X-Sendfile-Type", "X-Accel-Mapping",
      "X-Envoy-External-Address", "Tailscale-User-Login", "X-Case_", "X_Case", "X.Case", "session_id",
    ])
  func claims(_ name: String) throws {
    #expect(try passing([name]).isEmpty)
    #expect(try passing([name.uppercased()]).isEmpty)
    #expect(try passing([name], isTrusted: true) == [name])
  }

  @Test("Every glob in the reference is in force")
  func reference() throws {
    let root = #filePath.components(separatedBy: "/Tests/")[0]
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: root + "/docs/policy.md")), as: UTF8.self)
    let section = try #require(text.components(separatedBy: "### Request fields that say who the client is\n").last)
    let list = try #require(section.components(separatedBy: "- Every name with another character").first)
    let globs = list.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 && $0.element != "trusted_proxies" }.map { String($0.element) }
    #expect(globs.count > 60)
    for glob in globs {
      #expect(try passing([glob.replacing("*", with: "")]).isEmpty, "\(glob)")
      #expect(try !glob.contains("*") || passing([glob.replacing("*", with: "q-1")]).isEmpty, "\(glob)")
    }
  }

  @Test(
    "A dropped field is reported by the name or glob that matched, never by text of the request",
    arguments: [
      ("IV-Secret", "iv-*"), ("X-Remote-USER", "x-remote-user"), ("X_Secret", "irregular"), ("X-Secret-S-DN", "*-s-dn"),
      ("X-Corp-Secret", "x-corp-*"), ("X-Original-URL", "x-original-url"), ("Content_Type", "irregular"),
      ("X-Corp_Secret", "x-corp-*"), ("X-Forwarded-For", nil), ("Accept", nil), ("Cookie", nil), ("X-Own", nil),
    ] as [(String, String?)])
  func droppedName(field: String, name: String?) throws {
    let parsed = try #require(try parseRequest("GET / HTTP/1.1\r\nHost: a\r\n\(field): x\r\n\r\n"))
    let fields = IdentityFields(strip: ["x-corp-*"])
    #expect(
      fields.droppedFieldName(for: parsed.index[1], of: parsed.index, parsed.bytes.span, isTrusted: false) == name)
    #expect(fields.droppedFieldName(for: parsed.index[0], of: parsed.index, parsed.bytes.span, isTrusted: false) == nil)
  }

  @Test("Fields without a meaning for the gateway pass, from any sender")
  func others() throws {
    let names = [
      "Accept", "User-Agent", "Authorization", "Cookie", "Content-Type", "Origin", "Referer", "Range", "X-Auth-Token",
      "X-Api-Key", "X-Requested-With", "X-CSRF-Token", "traceparent", "Sec-Fetch-Site", "Sec-CH-UA-Arch", "DPoP",
      "Idempotency-Key", "X-Request-Id", "If-None-Match", "Smile", "X-Iv", "Iv", "SM", "X-Small", "Oauth-Token",
      "X-Client-Version", "X-Forward", "X-Client-Data", "Remote", "S-DN-X", "Client", "Accept-CH",
    ]
    #expect(try passing(names) == names)
    #expect(try passing(names, isTrusted: true) == names)
  }

  @Test(
    "A field that names another path or host than the request's own never passes",
    arguments: [
      "X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Path", "X-Host", "Script-Name", "Proxy", "X_Original_URL",
    ])
  func overrides(_ name: String) throws {
    let parsed = try #require(try parseRequest("GET / HTTP/1.1\r\nHost: a\r\n\(name): x\r\n\r\n"))
    #expect(parsed.index.last?.known == (name.contains("_") ? .disguised : .requestOverride))
  }

  @Test("A policy adds globs and removes some; a glob that it adds takes precedence")
  func globs() throws {
    let fields = IdentityFields(
      strip: ["x-sso2-*", "*-proof", "x-a*-b*c", "login", "x-keep-not"],
      keep: ["iv-lang*", "session_id", "x-real-ip", "x-keep-*"])
    #expect(
      try passing(
        [
          "X-SSO2-User", "X_SSO2_User", "X-SSO2", "Some-Proof", "Proof", "X-A1-B2C", "X-A-BC", "X-A-CB", "Login",
          "Login-X", "X-Login", "iv-language", "iv-user", "Session_Id", "Session_Idx", "X-Real-IP", "X-Keep-Not",
        ], fields)
        == ["X-SSO2", "Proof", "X-A-CB", "Login-X", "X-Login", "iv-language", "Session_Id", "X-Real-IP"])
    #expect(try passing(["X-SSO2-User", "Login"], fields, isTrusted: true) == ["X-SSO2-User", "Login"])
  }

  @Test("A policy cannot drop fields that OAuth needs")
  func needed() throws {
    let names = ["Authorization", "Cookie", "Content-Type", "Content-Encoding"]
    #expect(try passing(names, IdentityFields(strip: ["*o*", "c*"])) == names)
  }

  @Test("A name with `_` does not pass together with the same name with `-`, even from a trusted proxy")
  func shadows() throws {
    #expect(try passing(["X-Case", "X_Case"], isTrusted: true) == ["X-Case"])
    #expect(try passing(["X_Remote.User", "X-Remote-User"], isTrusted: true) == ["X-Remote-User"])
    #expect(try passing(["X_Case", "X-Cased"], isTrusted: true) == ["X_Case", "X-Cased"])
    let keeping = IdentityFields(keep: ["x_case"])
    #expect(try passing(["X_Case"], keeping) == ["X_Case"])
    #expect(try passing(["X_Case", "X-Case"], keeping) == ["X-Case"])
    // The index is used again, and long names differ only at their ends.
    let long = String(repeating: "a", count: 150)
    let names = (0..<40).map { "\(long)_\($0)" } + ["\(long)-7", "\(long)-x"]
    let others = (0..<40).filter { $0 != 7 }.map { "\(long)_\($0)" }
    for _ in 0..<2 { #expect(try passing(names, isTrusted: true) == others + names.suffix(2)) }
  }
}
