internal import Bytes
import OAuth

extension FormParameters {
  /// True if a name reads as a parameter of the authorization endpoint to a server that ignores case as Unicode defines
  /// it, or that normalises: `\u{17F}tate` equals `state` in Java's `equalsIgnoreCase`.
  ///
  /// Re-entry forwards fields of the upstream's pages unchanged, so a name that only the server reads as a parameter would
  /// bypass the comparison.
  var hasLookAlike: Bool {
    secondRepresentation(of: .atAuthorization, asciiOf: LenientDecoding.folded) != nil
  }
}
