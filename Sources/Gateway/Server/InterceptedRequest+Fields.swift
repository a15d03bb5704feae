internal import ByteText
import HTTP
import OAuth
import PathReading
import Policy
import Proxy
import Telemetry

/// The header fields of the client that go upstream from the OAuth endpoints. Some servers read parameters also from
/// cookies, and credentials also from other fields than `Authorization`. The gateway decides on the query, the body and
/// `Authorization` alone, so while the policy enforces a client, the other places are not forwarded (`I-credentials`).
/// If the policy enforces no client, they are only findings (`I-observe`).
extension InterceptedRequest {
  /// The maximum number of bytes of a name that are examined. The longest name of a parameter is shorter, even if every
  /// character is written as `%25XX` or `%uXXXX`.
  private static let examinedLength = 160

  /// The words in the letters of a field name by which the field names a client or its credentials.
  private static let credentialWords = ["authorization", "clientid", "secret", "password"]

  /// Returns the finding of a request with a cookie that some server reads like a parameter.
  static func finding(cookieParameter name: String) -> String { "cookie-parameter:\(name)" }

  /// Appends a header field of the request to those for the upstream, without the parts that are not forwarded.
  func append(_ field: Headers.Field, to headers: inout Headers) {
    if field.name.isEqualIgnoringCase(to: "cookie") {
      let value = trail.endpoint == .authorization ? withoutParameters(field.value) : onlyAffinity(field.value)
      if !policy.isEnforcing {
        headers.append(field.name, field.value)
      } else if !value.isEmpty {
        headers.append(field.name, value)
      }
      return
    }
    if trail.endpoint != .authorization, let word = credentialWord(in: field.name) {
      note("credential-field:\(word)")
      if policy.isEnforcing { return }
    }
    headers.append(field.name, field.value)
  }

  private func note(_ finding: String) {
    if !trail.findings.contains(finding) { trail.findings.append(finding) }
  }

  /// Returns a `Cookie` value of a browser without the cookies that some server may read as a parameter that the gateway
  /// has checked.
  private func withoutParameters(_ value: String) -> String {
    CookieFilter.value(value) { name in
      guard let parameter = InterceptedRequest.parameter(inCookie: name) else { return false }
      note(InterceptedRequest.finding(cookieParameter: parameter.text))
      return true
    }
  }

  private static func parameter(inCookie name: Span<UInt8>) -> ParameterName? {
    let examined = [UInt8](copying: name.extracting(first: examinedLength)).map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
    let text = String(decoding: LenientDecoding.decoded(examined, rounds: 2), as: UTF8.self)
    if let parameter = ParameterName(text) {
      return ParameterNames.checkedAtAuthorization.contains(parameter) ? parameter : nil
    }
    return FormParameters([FormParameters.Entry(text, "")])
      .alternativeSpelling(of: .checkedAtAuthorization, foldToASCII: LenientDecoding.folded)
  }

  /// Returns the cookies of a request that a client sends directly that choose the address of the upstream. Clients need
  /// no others: a client authenticates itself, and no user.
  private func onlyAffinity(_ value: String) -> String {
    let (own, affinity) = (gateway.snapshot.cookie.name, upstream.affinityCookies)
    return CookieFilter.value(value) { name in
      if affinity.contains(where: { $0.utf8.span.isEqual(to: name) }) { return false }
      if !own.utf8.span.isEqual(to: name) { note("cookie-withheld") }
      return true
    }
  }

  /// Returns the word by which a field names a client or its credentials; `nil` for `Authorization`, which the gateway
  /// reads, for every other field, and for one that `upstream.keep_headers` lists by its name.
  private func credentialWord(in name: String) -> String? {
    guard !name.isEqualIgnoringCase(to: "authorization") else { return nil }
    let letters = name.utf8.map(\.lowercasedASCII).filter(\.isLowercaseLetter)
    guard let word = InterceptedRequest.credentialWords.first(where: { letters.span.contains($0) }),
      !policy.upstream.keptHeaders.contains(where: { $0.isEqualIgnoringCase(to: name) })
    else { return nil }
    return word
  }
}
