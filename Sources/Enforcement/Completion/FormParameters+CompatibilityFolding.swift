import OAuth
internal import PathReading

extension FormParameters {
  /// True if some server reads another name as a parameter of the authorization endpoint, because it ignores case as
  /// Unicode defines it, or normalises names. For example, `\u{17F}tate` equals `state` in Java's `equalsIgnoreCase`.
  ///
  /// A re-entry is forwarded unchanged, so the gateway would not compare a parameter that only the upstream recognises.
  var hasLookAlike: Bool {
    alternativeSpelling(of: .atAuthorization, asciiOf: LenientDecoding.folded) != nil
  }
}
