/// The field lines of a head, read with simple eyes: no table, no offsets, nothing of the parser under test.
struct FieldReader {
  struct Field: Equatable {
    /// In lower case.
    let name: String
    let value: [UInt8]

    var text: String { String(decoding: value, as: UTF8.self) }
  }

  let startLine: [UInt8]
  let fields: [Field]

  /// `nil` when the bytes are not lines that end in CRLF with an empty one at the end, or a line is no field.
  init?(_ head: [UInt8]) {
    var lines = FieldReader.lines(head)
    // Before the start line one empty line may stand, and behind the fields one must.
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

  /// Fields whose name comes to `name` where everything but letters and digits is one character, as in CGI.
  func disguises(of name: String) -> Int {
    let folded = FieldReader.folded(name)
    return fields.filter { $0.name != name && FieldReader.folded($0.name) == folded }.count
  }

  /// The elements of all lists under `name`, in lower case.
  func elements(_ name: String) -> [String] {
    all(name).flatMap { FieldReader.parts($0.value, at: ",") }
      .map { String(decoding: $0, as: UTF8.self).lowercased() }.filter { !$0.isEmpty }
  }

  /// The parts of a value without the white space around each. Bytes, because a separator next to a combining character
  /// is no character of its own.
  static func parts(_ value: [UInt8], at separator: Unicode.Scalar) -> [[UInt8]] {
    value.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false).map(trimmed)
  }

  static func trimmed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var bytes = bytes
    while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    return Array(bytes)
  }

  /// How the body ends, after all that RFC 9112 leaves room for was ruled out; `nil` when a second reading exists.
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

  /// Split at CRLF; the last part is what follows the last one.
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

  /// Whether some reader sees another line, or another end, in what looks like a line: bare CR and LF, NUL, vertical tab,
  /// form feed and every other control character but a tab.
  static func hasSecondReading(_ bytes: [UInt8]) -> Bool {
    bytes.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }
  }
}

enum ReferenceFraming: Equatable {
  case absent
  case length(Int)
  case chunked
}
