internal import Bytes

/// Some names of fields, looked up without regard to ASCII case (RFC 9110, section 5.1).
///
/// For the few names that a message is searched for: those of the wrong length cost one comparison.
public struct FieldNames: Sendable, ExpressibleByArrayLiteral {
  private let names: [String]

  public init(arrayLiteral elements: String...) {
    names = elements
  }

  public func contains(_ name: String) -> Bool {
    // Names are looked at where they are: a loop over them would count their references.
    let names = names.span
    var index = 0
    while index < names.count {
      if names[index].isEqualIgnoringCase(to: name) { return true }
      index &+= 1
    }
    return false
  }
}
