internal import ByteText

/// A set of field names that is searched without regard to ASCII case (RFC 9110, section 5.1).
///
/// Use it for a few names only, because the search compares `name` with one element after the other. It compares
/// letters only if the lengths are equal.
public struct FieldNames: Sendable, ExpressibleByArrayLiteral {
  private let names: [String]

  /// Creates the set from a literal such as `["Host", "Via"]`.
  public init(arrayLiteral elements: String...) {
    names = elements
  }

  /// Returns true if `name` is in the set.
  public func contains(_ name: String) -> Bool {
    // A loop over the array itself would retain and release each name.
    let names = names.span
    var index = 0
    while index < names.count {
      if names[index].isEqualIgnoringCase(to: name) { return true }
      index &+= 1
    }
    return false
  }
}
