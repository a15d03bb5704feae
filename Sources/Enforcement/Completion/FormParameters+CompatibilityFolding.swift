import OAuth
internal import PathReading

extension FormParameters {
  /// True if a name is not a parameter that a page of the upstream could change, but some server reads the name as one. Such a
  /// server ignores case as Unicode defines it, or normalises names. For example, `\u{17F}tate` equals `state` in
  /// Java's `equalsIgnoreCase`.
  ///
  /// A re-entry is forwarded unchanged. If such a name were accepted, the upstream could read a value that the gateway
  /// has not compared.
  var hasLookalikeName: Bool {
    alternativeSpelling(of: .atReentry, foldToASCII: LenientDecoding.folded) != nil
  }
}
