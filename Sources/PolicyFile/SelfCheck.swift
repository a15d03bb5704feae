import OAuth
import Policy

/// The result of checking one policy against the five points of RFC 8252, appendix A, which list how an authorization
/// server supports native apps.
public struct SelfCheck: Sendable, Equatable {
  /// One point of the appendix.
  public struct Item: Sendable, Equatable, CustomStringConvertible {
    /// The number of the point in the appendix, 1 to 5.
    public let number: Int
    /// The requirement in a few words.
    public let title: String
    /// The reason why the policy does not meet the point; `nil` if it does.
    public let failure: String?

    /// True if the policy meets the point.
    public var isMet: Bool { failure == nil }

    /// One line of the report of `proofgate check`.
    public var description: String {
      "\(number). \(title): " + (failure.map { "failed, \($0)" } ?? "met")
    }
  }

  /// The five points, in the order of the appendix.
  public let items: [Item]

  /// True if the policy meets all points, so that the gateway conforms to the profile of RFC 8252.
  public var isMet: Bool { items.allSatisfy(\.isMet) }

  /// Checks a policy.
  ///
  /// - Parameters:
  ///   - nativeClientInObserveMode: A native client in observe mode; `nil` if there is none.
  ///   - errors: The ids of the errors in the file. A policy with errors meets no point.
  init(
    redirects: Set<RedirectKind>, mode: EnforcementMode, unknownClients: UnknownClients,
    nativeClientInObserveMode: ClientID?,
    errors: Set<DiagnosticID>
  ) {
    func missing(_ kind: RedirectKind) -> String? {
      redirects.contains(kind) ? nil : "`redirects` lacks `\(kind.rawValue)`"
    }
    let enforcementFailure: String? =
      if mode == .observe {
        "`mode: observe` refuses nothing"
      } else if unknownClients != .reject {
        "`unknown_clients: \(unknownClients.rawValue)` lets apps through that no rule covers"
      } else if let nativeClientInObserveMode {
        "native client \(quoted(nativeClientInObserveMode.rawValue)) is only observed"
      } else {
        nil
      }
    let secretFailure: String? =
      if errors.contains(.nativeConfidential) {
        "a native app is recorded as confidential"
      } else if errors.contains(
        .publicSecret)
      { "a public client has a secret" } else { nil }
    let pkceFailure: String? =
      if errors.contains(.pkceNative) { "a native app may leave PKCE out" } else if errors.contains(.pkceOff) {
        "a public client may leave PKCE out"
      } else { enforcementFailure }
    let errorText = errors.isEmpty ? nil : "the policy has errors"
    items = [
      Item(number: 1, title: "private-use scheme redirect URIs", failure: missing(.privateUse) ?? errorText),
      Item(number: 2, title: "https redirect URIs of public native apps", failure: missing(.claimedHTTPS) ?? errorText),
      Item(number: 3, title: "loopback redirect URIs on any port", failure: missing(.loopback) ?? errorText),
      Item(number: 4, title: "native apps keep no secret", failure: secretFailure ?? errorText),
      Item(number: 5, title: "PKCE of public native apps", failure: pkceFailure ?? errorText),
    ]
  }
}
