/// A parameter can reach a server in a spelling that the gateway does not read as that parameter: `client_id[]`,
/// `client.id`, `Client_Id`, `client_id%00`, `a=b;client_id=c`. Whoever sends one wants two readers to disagree.
extension FormParameters {
  /// The first parameter of `known` that occurs in another spelling; `nil` when each name means one thing.
  public func secondRepresentation(of known: Set<String>) -> String? {
    for name in entries.map(\.name) + malformedNames {
      if known.contains(name) { continue }
      let folded = FormParameters.folded(name)
      if known.contains(folded) { return folded }
    }
    for name in namesAfterSemicolon {
      let folded = FormParameters.folded(name)
      if known.contains(folded) { return folded }
    }
    return nil
  }

  /// The name as the most liberal server would take it.
  private static func folded(_ name: String) -> String {
    var bytes = Array(name.utf8)
    // Twice: a server behind a proxy that decodes once more sees the second layer.
    for _ in 0..<2 where bytes.contains(UInt8(ascii: "%")) {
      guard let decoded = FormEncoding.decode(bytes[...]) else { break }
      bytes = Array(decoded.utf8)
    }
    // C strings end at a NUL; PHP drops what follows a bracket.
    var core = bytes.prefix { $0 != 0 }
    core = core.drop { isPadding($0) || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "[") }
    core = core.prefix { $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") }
    while let last = core.last, isPadding(last) { core.removeLast() }
    return String(
      decoding: core.map { byte -> UInt8 in
        // PHP writes an underscore for a period and a space inside a name.
        byte == UInt8(ascii: ".") || byte == UInt8(ascii: " ") ? UInt8(ascii: "_") : ASCII.lowercased(byte)
      }, as: UTF8.self)
  }

  private static func isPadding(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == 0x7f }
}
