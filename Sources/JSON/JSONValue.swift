/// Any JSON value (RFC 8259). Token responses have members that no standard defines, so the gateway keeps values of
/// every type.
public enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  /// A number without a fraction, if it fits into 64 bits.
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// The string; `nil` for a value of another type.
  public var text: String? {
    guard case .string(let value) = self else { return nil }
    return value
  }

  /// Returns the members of the JSON object in `bytes`; `nil` if the text is not a JSON object, or is nested deeper than `JSONReader.maximumDepth`. The time is proportional to the length of the text.
  ///
  /// - Parameter strictness: The treatment of texts on which readers disagree.
  public static func members(of bytes: [UInt8], _ strictness: JSONReader.Strictness = .lenient) -> [String: JSONValue]?
  {
    JSONReader.members(of: bytes.span, strictness)
  }

  /// Returns a JSON object with the members sorted by the bytes of their names.
  public static func text(of members: [String: JSONValue]) -> [UInt8] {
    JSONWriter.text(of: members)
  }
}
