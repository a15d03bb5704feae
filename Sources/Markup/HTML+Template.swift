extension HTML {
  /// Creates markup from a text with placeholders in braces. The text is escaped.
  ///
  /// - Parameter values: The markup in place of the placeholders, by their names. A placeholder without a value is left
  ///   out.
  public init(template: String, _ values: [String: HTML]) {
    var pieces: [HTML] = []
    var rest = template[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      pieces.append("\(String(rest[..<open]))")
      if let value = values[String(rest[rest.index(after: open)..<close])] { pieces.append(value) }
      rest = rest[rest.index(after: close)...]
    }
    self = "\(pieces)\(String(rest))"
  }
}
