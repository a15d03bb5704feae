/// The part of a client's registration that a sign-in needs between its authorization request and its token request.
///
/// The state contains it in place of the id, from which the gateway otherwise takes the metadata. With it, the current
/// policy decides whether the client is still permitted when the sign-in is completed. The token request has the id
/// itself, and is decided with all of its metadata.
public struct RegistrationOutline: Hashable, Sendable {
  /// The metadata. The first redirect URI is that of the sign-in. The others are outlines of the other hosts and schemes
  /// that the client registered, because the policy may deny them. The scope is absent if the request had one: the
  /// one in the registration is only a default.
  public var metadata: ClientMetadata
  /// The quarter in which the id was issued.
  public var quarter: CalendarQuarter

  /// Creates an outline from its parts.
  public init(metadata: ClientMetadata, quarter: CalendarQuarter) {
    self.metadata = metadata
    self.quarter = quarter
  }

  /// Creates the outline of a registration for a sign-in.
  ///
  /// - Parameters:
  ///   - redirectURI: The redirect URI of the sign-in.
  ///   - scope: The scope in the authorization request; `nil` if it had none.
  public init(_ registration: ClientRegistration, redirectURI: RedirectURI, scope: Scope?) {
    let used = redirectURI.outline.text
    var others: [RedirectURI] = []
    for outline in registration.metadata.redirectURIs.map(\.outline)
    where outline.text != used && !others.contains(where: { $0.text == outline.text }) {
      others.append(outline)
    }
    metadata = registration.metadata
    metadata.redirectURIs = [redirectURI] + others
    if scope != nil { metadata.scope = nil }
    quarter = registration.quarter
  }
}
