internal import ByteText

/// A set of field names that is searched without regard to ASCII case (RFC 9110, section 5.1).
///
/// Use it for a few names only, because the search is linear. A name of a different length takes only one comparison.
public struct FieldNames: Sendable, ExpressibleByArrayLiteral {
  private let names: [String]

  /// Creates the set from a literal such as `["Host", "Via"]`.
  public init(arrayLiteral elements: String...) {
    names = elements
  }

  /// Returns true if `name` is in the set.
  public func contains(_ name: String) -> Bool {
    // Iterates over the names in place: a loop over the array would retain and release each of them.
    let names = names.span
    var index = 0
    while index < names.count {
      if names[index].isEqualIgnoringCase(to: name) { return true }
      index &+= 1
    }
    return false
  }
}
