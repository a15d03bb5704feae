import HTTP
import JSON

@testable import Gateway

/// Input: the response of a token endpoint; the text before a first line feed is its media type. JSON is parsed
/// as by Foundation, and the response to the client parses to the same values.
enum TokenAnswerTarget {
  static func check(_ input: [UInt8]) throws(Violation) {
    let type = input.prefix { $0 != 0x0a }
    let body = type.count < input.count ? Array(input[(type.count + 1)...]) : input
    try checkJSON(body)
    let headers: Headers = ["Content-Type": String(decoding: type, as: UTF8.self)]
    for status in [200, 205, 400, 500] {
      switch UpstreamTokenResponse(status: status, headers: headers, body: body) {
      case .unusable: break
      case .tokens(let members):
        try Violation.unless(status == 200, "tokens under status \(status)")
        try Violation.unless(members["access_token"]?.text?.isEmpty == false, "tokens without an access token")
        try Violation.unless(members["token_type"]?.text?.isEmpty == false, "tokens without a type")
        try checkText(members)
      case .error(_, let description):
        try Violation.unless(status == 200 || status == 400, "an answer of a server in trouble is believed")
        // RFC 6749, section 5.2: the permitted characters of an error_description.
        let isDescription = description?.utf8.allSatisfy { 0x20...0x7e ~= $0 && $0 != 0x22 && $0 != 0x5c } ?? true
        try Violation.unless(isDescription, "a description has a forbidden character")
      }
    }
  }

  private static func checkJSON(_ body: [UInt8]) throws(Violation) {
    let strict = JSONValue.members(of: body, .strict)
    guard let members = JSONValue.members(of: body) else {
      return try Violation.unless(strict == nil, "the strict reader accepts more")
    }
    try Violation.unless(strict == nil || strict == members, "the strict reader reads another value")
    // Foundation does not replace what is not UTF-8.
    guard String(validating: body, as: UTF8.self) != nil else { return try checkText(members) }
    guard let read = FoundationJSON.members(of: body) else { throw Violation("Foundation refuses the text") }
    try Violation.unless(isSame(.object(read), .object(members)), "Foundation reads another value")
    try checkText(members)
  }

  private static func checkText(_ members: [String: JSONValue]) throws(Violation) {
    let text = JSONValue.text(of: members)
    guard JSONValue.members(of: text) == members else { throw Violation("what is written is read in another way") }
    guard let again = FoundationJSON.members(of: text) else { throw Violation("what is written is refused") }
    try Violation.unless(isSame(.object(again), .object(members)), "Foundation reads what is written in another way")
  }

  /// A large number with a fraction may be written without one if it is the same number. Beyond 53 bits, Foundation rounds
  /// such a number to another integer than `Double` does.
  private static func isSame(_ one: JSONValue, _ other: JSONValue) -> Bool {
    switch (one, other) {
    case (.integer(let whole), .number(let number)), (.number(let number), .integer(let whole)): Double(whole) == number
    case (.integer(let whole), .integer(let another)): whole == another || Double(whole) == Double(another)
    case (.array(let ones), .array(let others)): ones.elementsEqual(others, by: isSame)
    case (.object(let ones), .object(let others)):
      ones.count == others.count && ones.allSatisfy { name, value in others[name].map { isSame(value, $0) } ?? false }
    default: one == other
    }
  }
}
