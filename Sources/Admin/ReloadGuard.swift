import HTTP
import HTTP1

/// The conditions under which a request to the admin listener may reload the policy. Only a program on this machine may
/// ask, and no web site may make a browser ask for it.
struct ReloadGuard {
  /// The value of `Host`; `nil` if the request has none.
  var host: String?
  /// The values of `Origin`.
  var origins: [String] = []
  /// The values of `Sec-Fetch-Site`.
  var sites: [String] = []
  /// True if the connection comes from a loopback address.
  var isFromLoopback: Bool

  /// The reason to refuse the request; `nil` if it may reload the policy.
  var refusal: String? {
    guard isFromLoopback else { return "only a program on this machine may reload the policy" }
    guard origins.allSatisfy({ origin in host.map { origin == "http://\($0)" } ?? false }),
      sites.allSatisfy({ $0 == "same-origin" || $0 == "none" })
    else { return "a page of another site may not reload the policy" }
    return nil
  }
}
