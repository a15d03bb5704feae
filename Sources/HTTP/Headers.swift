internal import Bytes

/// Header fields of a message that is handled whole, in the order in which they came or will be sent. Names are compared
/// without regard to ASCII case (RFC 9110, section 5.1).
///
/// The pass-through path never makes one: there, fields stay offsets into the receive buffer.
public struct Headers: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  public struct Field: Sendable, Equatable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  public private(set) var fields: [Field]

  public init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// No fields, and room for so many.
  public init(capacity: Int) {
    fields = []
    fields.reserveCapacity(capacity)
  }

  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }

  /// The value of the only field with this name; `nil` when there is none or more than one.
  public func only(_ name: String) -> String? {
    let found = all(name)
    return found.count == 1 ? found.first : nil
  }

  /// The value of the first field with this name.
  public subscript(_ name: String) -> String? {
    for field in fields where field.name.isEqualIgnoringCase(to: name) { return field.value }
    return nil
  }

  /// The values of all fields with this name, in order.
  public func all(_ name: String) -> [String] {
    var values: [String] = []
    for field in fields where field.name.isEqualIgnoringCase(to: name) { values.append(field.value) }
    return values
  }

  public func contains(_ name: String) -> Bool {
    fields.contains { $0.name.isEqualIgnoringCase(to: name) }
  }

  public mutating func append(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// Replaces every field with this name by one.
  public mutating func set(_ name: String, _ value: String) {
    remove(name)
    append(name, value)
  }

  public mutating func remove(_ name: String) {
    fields.removeAll { $0.name.isEqualIgnoringCase(to: name) }
  }
}
