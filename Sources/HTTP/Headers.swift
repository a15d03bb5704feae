/// Header fields of a message that is handled whole, in the order in which they came or will be sent.
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
    fields.first { Headers.same($0.name, name) }?.value
  }

  /// The values of all fields with this name, in order.
  public func all(_ name: String) -> [String] {
    fields.filter { Headers.same($0.name, name) }.map(\.value)
  }

  public func contains(_ name: String) -> Bool {
    fields.contains { Headers.same($0.name, name) }
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
    fields.removeAll { Headers.same($0.name, name) }
  }

  /// Field names are compared without regard to ASCII case (RFC 9110, section 5.1).
  static func same(_ a: String, _ b: String) -> Bool {
    guard a.utf8.count == b.utf8.count else { return false }
    return zip(a.utf8, b.utf8).allSatisfy { lowercased($0) == lowercased($1) }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
  }
}
