/// The channel through which an authorization response reaches the client (OAuth 2.0 Multiple Response Types, section
/// 2.1; Form Post).
public enum ResponseMode: String, Sendable, CaseIterable {
  case query
  case fragment
  case formPost = "form_post"
}
