/// A simple and slow reader for the chunked coding (RFC 9112, section 7.1).
enum ChunkReader {
  struct DecisionWithFindings: Equatable {
    let body: [UInt8]
    /// The number of input bytes that belong to the coding.
    let consumed: Int
  }

  /// Returns nil if the input does not contain a complete, well-formed body.
  static func read(_ wire: [UInt8]) -> DecisionWithFindings? { parse(wire)?.body }

  /// Returns the lines of the trailer section without their line ends; nil as `read`.
  static func trailers(_ wire: [UInt8]) -> [[UInt8]]? { parse(wire)?.trailers }

  private static func parse(_ wire: [UInt8]) -> (body: DecisionWithFindings, trailers: [[UInt8]])? {
    var body: [UInt8] = []
    var position = 0
    while true {
      guard let line = line(wire, &position) else { return nil }
      let digits = line.prefix { $0 != UInt8(ascii: ";") }
      let hexadecimal = Set("0123456789abcdefABCDEF".utf8)
      guard (1...15).contains(digits.count), digits.allSatisfy(hexadecimal.contains),
        let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
      else { return nil }
      guard closesQuotes(Array(line.dropFirst(digits.count))) else { return nil }
      if size == 0 { break }
      guard size <= wire.count - position else { return nil }
      body += wire[position..<position + size]
      position += size
      guard let end = self.line(wire, &position), end.isEmpty else { return nil }
    }
    var trailers: [[UInt8]] = []
    while true {
      guard let line = line(wire, &position) else { return nil }
      if line.isEmpty { return (DecisionWithFindings(body: body, consumed: position), trailers) }
      trailers.append(Array(line))
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
        line[..<colon].allSatisfy({ FieldReader.tokenBytes.contains($0) })
      else { return nil }
    }
  }

  /// True if each quoted string ends: a mark, any bytes and pairs of a backslash and a byte, and a mark.
  private static func closesQuotes(_ extensions: [UInt8]) -> Bool {
    guard let mark = extensions.firstIndex(of: UInt8(ascii: "\"")) else { return true }
    var rest = extensions[(mark + 1)...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { return closesQuotes(Array(rest)) }
      if byte == UInt8(ascii: "\\") { _ = rest.popFirst() }
    }
    return false
  }

  /// A line without its CRLF; nil if no line ends, or if a byte in it could be read as a line end.
  private static func line(_ wire: [UInt8], _ position: inout Int) -> ArraySlice<UInt8>? {
    var end = position
    while end + 1 < wire.count, wire[end] != 0x0d || wire[end + 1] != 0x0a { end += 1 }
    guard end + 1 < wire.count, !FieldReader.hasSecondReading(Array(wire[position..<end])) else { return nil }
    defer { position = end + 2 }
    return wire[position..<end]
  }
}
