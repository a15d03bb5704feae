import ByteText
import Cryptography
internal import FoundationEssentials

extension StatusReport {
  /// The report as one line of JSON.
  var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    // Strings, booleans and numbers that are finite can always be encoded.
    return [UInt8]((try? encoder.encode(self)) ?? Data()) + [UInt8(ascii: "\n")]
  }

  /// The entity tag of all responses with this report (RFC 9110, section 8.8.3). It is weak, because a response may be
  /// compressed.
  static func entityTag(of json: [UInt8]) -> String { "W/\"\(Hex.encode(Array(sha256(json).prefix(16))))\"" }

  /// Returns true if one of the tags in the values of `If-None-Match` is equal to `tag` in the weak comparison (RFC 9110,
  /// section 13.1.2).
  static func isKnown(_ tag: String, in ifNoneMatch: [String]) -> Bool {
    let opaque = tag.drop { $0 != "\"" }
    return ifNoneMatch.contains { value in
      value.split(separator: ",").contains { entry in
        let entry = entry.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        return entry == "*" || entry == opaque || entry == "W/" + opaque
      }
    }
  }
}
