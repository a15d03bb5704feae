import FoundationEssentials

/// Any JSON value. Token responses have members that no standard defines, so the gateway keeps values of every type.
enum JSONValue: Sendable, Equatable, Codable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode([String: JSONValue].self) {
      self = .object(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else if container.decodeNil() {
      self = .null
    } else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a JSON value")
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// The string; `nil` for a value of another type.
  var text: String? {
    guard case .string(let value) = self else { return nil }
    return value
  }

  /// Returns the members of the JSON object in `bytes`; `nil` if the text is not a JSON object.
  static func members(of bytes: [UInt8]) -> [String: JSONValue]? {
    PlainJSON.members(of: bytes.span) ?? decoded(bytes)
  }

  /// Returns a JSON object with the members sorted by name.
  static func text(of members: [String: JSONValue]) -> [UInt8] {
    PlainJSON.text(of: members) ?? encoded(members)
  }

  /// Reads a JSON object with Foundation. `PlainJSON` must return the same members for each text that it can read.
  static func decoded(_ bytes: [UInt8]) -> [String: JSONValue]? {
    try? JSONDecoder().decode([String: JSONValue].self, from: Data(bytes))
  }

  /// Writes a JSON object with Foundation. `PlainJSON` must return the same text for the members that it can write.
  static func encoded(_ members: [String: JSONValue]) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(members)).map { Array($0) } ?? Array("{}".utf8)
  }
}
