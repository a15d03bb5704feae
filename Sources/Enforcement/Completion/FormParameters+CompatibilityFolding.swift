internal import Bytes
import OAuth

extension FormParameters {
  /// True if a server that compares names without case as Unicode defines it, or after normalisation, reads a name as a
  /// parameter of the authorization endpoint: `\u{17F}tate` equals `state` in Java's `equalsIgnoreCase`.
  ///
  /// Re-entry forwards the fields of upstream pages unchanged, so a name that only the upstream reads as a parameter
  /// would bypass the comparison.
  var hasLookAlike: Bool {
    secondRepresentation(of: .atAuthorization, asciiOf: LenientDecoding.folded) != nil
  }
}
