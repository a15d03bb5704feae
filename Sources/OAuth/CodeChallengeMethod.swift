/// A transformation of the code verifier (RFC 7636, section 4.2), as in the IANA registry (section 6.2).
public enum CodeChallengeMethod: String, Sendable, CaseIterable {
  case s256 = "S256"
  case plain
}
