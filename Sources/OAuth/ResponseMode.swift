/// The way in which an authorization response reaches the client (OAuth 2.0 Multiple Response Types, section 2.1; OAuth
/// 2.0 Form Post Response Mode).
public enum ResponseMode: String, Sendable, CaseIterable {
  case query
  case fragment
  case formPost = "form_post"
}
