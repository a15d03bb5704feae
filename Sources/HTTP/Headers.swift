internal import ByteText

/// The header fields of a message that is in memory as a whole, in the order in which they are received or sent. Names
/// are compared without regard to ASCII case (RFC 9110, section 5.1).
///
/// For messages that the gateway only forwards, `HeadIndex` is used instead: the offsets of the fields in the receive
/// buffer.
public struct Headers: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  /// One field line.
  public struct Field: Sendable, Equatable {
    /// The name in its original case.
    public var name: String
    /// The value as `FieldText` decodes it, without white space around it.
    public var value: String

    /// Creates a field.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// All fields in order.
  public private(set) var fields: [Field]

  /// Creates the fields of a message.
  public init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// Creates an empty list with room for `capacity` fields.
  public init(capacity: Int) {
    fields = []
    fields.reserveCapacity(capacity)
  }

  /// Creates the fields from pairs of name and value.
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }

  /// Returns the value of the only field with this name; `nil` if there is no such field or more than one.
  public func onlyValue(of name: String) -> String? {
    let values = all(name)
    return values.count == 1 ? values.first : nil
  }

  /// The value of the first field with this name; `nil` if there is no such field.
  public subscript(_ name: String) -> String? {
    for field in fields where field.name.isEqualIgnoringCase(to: name) { return field.value }
    return nil
  }

  /// Returns the values of all fields with this name, in order.
  public func all(_ name: String) -> [String] {
    var values: [String] = []
    for field in fields where field.name.isEqualIgnoringCase(to: name) { values.append(field.value) }
    return values
  }

  /// Returns true if there is a field with this name.
  public func contains(_ name: String) -> Bool {
    fields.contains { $0.name.isEqualIgnoringCase(to: name) }
  }

  /// Appends a field. Existing fields with this name stay.
  public mutating func append(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// Replaces all fields with this name by one field at the end of the list.
  public mutating func set(_ name: String, _ value: String) {
    remove(name)
    append(name, value)
  }

  /// Removes all fields with this name.
  public mutating func remove(_ name: String) {
    fields.removeAll { $0.name.isEqualIgnoringCase(to: name) }
  }
}
