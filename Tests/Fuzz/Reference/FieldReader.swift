/// A simple reader for the field lines of a head: no table, no offsets, and no code of the parser under test.
struct FieldReader {
  struct Field: Equatable {
    /// The name in lower case.
    let name: String
    let value: [UInt8]

    var text: String { String(decoding: value, as: UTF8.self) }
  }

  let startLine: [UInt8]
  let fields: [Field]

  /// Fails if the bytes are not lines that end in CRLF with an empty line at the end, or if a line is not a field.
  init?(_ head: [UInt8]) {
    var lines = FieldReader.lines(head)
    // One empty line may come before the start line, and one must come after the fields.
    if lines.first == [] { lines.removeFirst() }
    guard lines.count >= 3, lines[lines.count - 1] == [], lines[lines.count - 2] == [] else { return nil }
    startLine = lines[0]
    var fields: [Field] = []
    for line in lines[1..<lines.count - 2] {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return nil }
      guard line[..<colon].allSatisfy({ FieldReader.tokenBytes.contains($0) }) else { return nil }
      let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      fields.append(Field(name: name, value: FieldReader.trimmed(line[(colon + 1)...])))
    }
    self.fields = fields
  }

  func all(_ name: String) -> [Field] { fields.filter { $0.name == name } }

  func has(_ name: String) -> Bool { fields.contains { $0.name == name } }

  /// The number of fields whose name becomes `name` if all characters except letters and digits become one, as in CGI.
  func disguises(of name: String) -> Int {
    let folded = FieldReader.folded(name)
    return fields.filter { $0.name != name && FieldReader.folded($0.name) == folded }.count
  }

  /// The elements of all lists under `name`, in lower case.
  func elements(_ name: String) -> [String] {
    all(name).flatMap { FieldReader.parts($0.value, at: ",") }
      .map { String(decoding: $0, as: UTF8.self).lowercased() }.filter { !$0.isEmpty }
  }

  /// The parts of a value without the white space around each. Works on bytes, because Swift does not see a separator
  /// next to a combining character as a character.
  static func parts(_ value: [UInt8], at separator: Unicode.Scalar) -> [[UInt8]] {
    value.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false).map(trimmed)
  }

  static func trimmed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var bytes = bytes
    while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    return Array(bytes)
  }

  /// The framing of the body if RFC 9112 allows only one reading; nil if a second reading exists.
  var framing: ReferenceFraming? {
    guard disguises(of: "content-length") == 0, disguises(of: "transfer-encoding") == 0 else { return nil }
    let lengths = all("content-length")
    let codings = all("transfer-encoding")
    guard lengths.count <= 1, codings.count <= 1, lengths.isEmpty || codings.isEmpty else { return nil }
    if let coding = codings.first { return coding.text.lowercased() == "chunked" ? .chunked : nil }
    guard let length = lengths.first else { return .absent }
    guard !length.value.isEmpty, length.value.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(length.text).map { .length($0) }
  }

  static let tokenBytes = Set(
    "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

  static func folded(_ name: String) -> [UInt8] {
    name.lowercased().utf8.map { byte in
      (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte) ? byte : UInt8(ascii: "-")
    }
  }

  /// Splits at CRLF; the last part is the text after the last CRLF.
  static func lines(_ bytes: [UInt8]) -> [[UInt8]] {
    var lines: [[UInt8]] = [[]]
    var index = 0
    while index < bytes.count {
      if bytes[index] == 0x0d, index + 1 < bytes.count, bytes[index + 1] == 0x0a {
        lines.append([])
        index += 2
      } else {
        lines[lines.count - 1].append(bytes[index])
        index += 1
      }
    }
    return lines
  }

  /// True if another reader may see a line end in this line: it contains CR, LF, NUL, vertical tab, form feed, or
  /// another control character except tab.
  static func hasSecondReading(_ bytes: [UInt8]) -> Bool {
    bytes.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }
  }
}

enum ReferenceFraming: Equatable {
  case absent
  case length(Int)
  case chunked
}
