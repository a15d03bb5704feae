import FoundationEssentials
import JSON

/// Foundation's reader of JSON, with which the gateway's own reader is compared.
enum FoundationJSON {
  /// Returns the members of an object; `nil` if the text is not an object, or if Foundation cannot read it.
  static func members(of bytes: [UInt8]) -> [String: JSONValue]? {
    guard let read = try? JSONDecoder().decode([String: Value].self, from: Data(bytes)) else { return nil }
    return read.mapValues(\.value)
  }

  private struct Value: Decodable {
    let value: JSONValue

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        value = .null
      } else if let text = try? container.decode(String.self) {
        value = .string(text)
      } else if let number = try? container.decode(Int64.self) {
        value = .integer(number)
      } else if let number = try? container.decode(Double.self) {
        value = .number(number)
      } else if let flag = try? container.decode(Bool.self) {
        value = .bool(flag)
      } else if let items = try? container.decode([Value].self) {
        value = .array(items.map(\.value))
      } else {
        value = .object(try container.decode([String: Value].self).mapValues(\.value))
      }
    }
  }
}
