/// The check of an SVG file that pages contain as an image. Browsers run no scripts of an image and load nothing for it,
/// but a user may open the image in a tab of its own.
enum SVGText {
  /// A reason to refuse a file.
  enum Problem: Error, Equatable {
    case notSVG
    /// The file contains a script, or something that browsers load.
    case active(String)
  }

  /// Returns the problem of a file; `nil` if it is an SVG file without scripts and references to other files.
  static func problem(of content: [UInt8]) -> Problem? {
    guard let text = String(validating: content, as: UTF8.self)?.lowercased(), text.contains("<svg"),
      text.contains("</svg>")
    else { return .notSVG }
    let forbidden = [
      "<script", "<foreignobject", "<iframe", "<image", "<!doctype", "<!entity", "<?xml-stylesheet", "javascript:",
      "@import", "url(http", "url(//", "url('http", "url('//", "url(\"http", "url(\"//", "url(data",
    ]
    if let part = forbidden.first(where: text.contains) { return .active(part) }
    // An attribute whose name begins with `on` runs a script; `href` may name only a part of the same file.
    for tag in text.split(separator: "<") {
      for piece in tag.split(whereSeparator: { $0.isWhitespace || $0 == "/" }) {
        let name = piece.prefix { $0 != "=" }
        guard name.count < piece.count else { continue }
        if name.hasPrefix("on") { return .active(String(name)) }
        let value = piece.dropFirst(name.count + 1)
        if name == "href" || name.hasSuffix(":href"), !value.hasPrefix("\"#"), !value.hasPrefix("'#") {
          return .active(String(name))
        }
      }
    }
    return nil
  }
}
