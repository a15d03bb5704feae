import OAuth
import Policy

/// The five points of RFC 8252, appendix A, for one policy: what an authorization server does for native apps.
public struct SelfCheck: Sendable, Equatable {
  public struct Item: Sendable, Equatable, CustomStringConvertible {
    /// 1 to 5, as in the appendix.
    public let number: Int
    public let title: String
    /// Why it is not met; `nil` when it is.
    public let failure: String?

    public var isMet: Bool { failure == nil }

    /// One line of the report.
    public var description: String {
      "\(number). \(title): " + (failure.map { "failed, \($0)" } ?? "met")
    }
  }

  public let items: [Item]

  /// True if the profile of RFC 8252 may be claimed.
  public var isMet: Bool { items.allSatisfy(\.isMet) }

  /// - Parameters:
  ///   - observedNative: A native client that is only observed; `nil` if there is none.
  ///   - findings: the ids of the errors in the file: a policy with errors meets nothing.
  init(
    redirects: Set<RedirectKind>, mode: EnforcementMode, unknownClients: UnknownClients, observedNative: ClientID?,
    findings: Set<DiagnosticID>
  ) {
    func missing(_ kind: RedirectKind) -> String? {
      redirects.contains(kind) ? nil : "`redirects` lacks `\(kind.rawValue)`"
    }
    let unenforced: String? =
      if mode == .observe {
        "`mode: observe` refuses nothing"
      } else if unknownClients != .reject {
        "`unknown_clients: \(unknownClients.rawValue)` lets apps through that no rule covers"
      } else if let observedNative {
        "native client \(quoted(observedNative.rawValue)) is only observed"
      } else {
        nil
      }
    let secrets: String? =
      if findings.contains(.nativeConfidential) {
        "a native app is recorded as confidential"
      } else if findings.contains(
        .publicSecret)
      { "a public client has a secret" } else { nil }
    let pkce: String? =
      if findings.contains(.pkceNative) { "a native app may leave PKCE out" } else if findings.contains(.pkceOff) {
        "a public client may leave PKCE out"
      } else { unenforced }
    let errors = findings.isEmpty ? nil : "the policy has errors"
    items = [
      Item(number: 1, title: "private-use scheme redirect URIs", failure: missing(.privateUse) ?? errors),
      Item(number: 2, title: "https redirect URIs of public native apps", failure: missing(.claimedHTTPS) ?? errors),
      Item(number: 3, title: "loopback redirect URIs on any port", failure: missing(.loopback) ?? errors),
      Item(number: 4, title: "native apps keep no secret", failure: secrets ?? errors),
      Item(number: 5, title: "PKCE of public native apps", failure: pkce ?? errors),
    ]
  }
}
