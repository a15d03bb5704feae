internal import ByteText
import OAuth

/// The parameters of a query or of a form (`application/x-www-form-urlencoded`), in order. Names may be repeated.
///
/// Like the servers of 2009, the decoder accepts invalid percent-encodings and leaves them unchanged.
public struct Form: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  /// A parameter: a name and a value, both decoded.
  public struct Field: Sendable, Equatable {
    /// The decoded name.
    public var name: String
    /// The decoded value, empty if the parameter has no `=`.
    public var value: String

    /// Creates a field.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The parameters, in order.
  public var fields: [Field]

  /// Creates a form.
  public init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// Creates a form from names and values.
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }

  /// Decodes a query or a body.
  public init(decoding text: some StringProtocol) {
    fields = text.utf8.split(separator: UInt8(ascii: "&")).map { pair in
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      return Field(name: Form.decoded(parts[0]), value: parts.count > 1 ? Form.decoded(parts[1]) : "")
    }
  }

  /// Returns the value of the first field with this name; `nil` if there is no such field.
  public subscript(_ name: String) -> String? {
    fields.first { $0.name == name }?.value
  }

  /// True if there is no field.
  public var isEmpty: Bool { fields.isEmpty }

  /// Appends a field.
  public mutating func append(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// Replaces all fields with this name by one, which is appended.
  public mutating func set(_ name: String, _ value: String) {
    remove(name)
    append(name, value)
  }

  /// Removes every field with this name.
  public mutating func remove(_ name: String) {
    fields.removeAll { $0.name == name }
  }

  /// The form-encoded text.
  public var encoded: String {
    fields.map { FormEncoding.encode($0.name) + "=" + FormEncoding.encode($0.value) }.joined(separator: "&")
  }

  /// Returns the URI with these parameters added to its query.
  public func added(to uri: String) -> String {
    guard !fields.isEmpty else { return uri }
    return uri + (uri.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + encoded
  }

  /// Decodes `%XX` and `+`. Does not change invalid percent-encodings.
  static func decoded(_ bytes: some Sequence<UInt8>) -> String {
    let text = bytes.map {
      $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0
    }
    return String(decoding: PercentDecoding.lenient(text.span), as: UTF8.self)
  }
}
