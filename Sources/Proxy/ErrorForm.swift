public import HTTP
public import HTTP1

/// The form of an error response of the gateway, as requested by `Accept`.
///
/// Grammar (RFC 9110, section 12.5.1): `Accept = #( media-range [ weight ] )`. A browser that loads a page lists
/// `text/html`. A program, which cannot show a page, lists JSON or accepts any type.
public enum ErrorForm: Sendable, Equatable {
  /// HTML for people. `languages` is the text of the `Accept-Language` fields, which may be cut.
  case page(languages: String = "")
  /// Problem details for programs (RFC 9457).
  case problem

  /// Chooses the page if HTML is listed and JSON does not have a higher weight, otherwise problem details.
  ///
  /// - Parameters:
  ///   - accept: the values of the `Accept` fields.
  ///   - languages: the values of the `Accept-Language` fields.
  public init(accept values: [String], languages: [String] = []) {
    let text = ErrorForm.joined(values).lowercased().filter { $0 != " " && $0 != "\t" }
    var page = 0
    var problem = 0
    for element in text.split(separator: ",") {
      let parts = element.split(separator: ";")
      switch parts.first {
      case "text/html", "application/xhtml+xml": page = max(page, ErrorForm.weight(parts.dropFirst()))
      case "application/json", "application/problem+json":
        problem = max(problem, ErrorForm.weight(parts.dropFirst()))
      default: continue
      }
    }
    self = page > 0 && page >= problem ? .page(languages: ErrorForm.joined(languages)) : .problem
  }

  /// Chooses the form for a request with these fields.
  public init(_ headers: Headers) {
    self.init(accept: headers.all("Accept"), languages: headers.all("Accept-Language"))
  }

  /// Chooses the form for the request whose head is in `bytes`. Used only for requests that fail, because it creates
  /// strings.
  public init(_ bytes: Span<UInt8>, _ fields: HeadIndex) {
    self.init(
      accept: ErrorForm.values("accept", bytes, fields), languages: ErrorForm.values("accept-language", bytes, fields))
  }

  /// Returns the text of the `Accept-Language` fields of the request whose head is in `bytes`.
  public static func languages(_ bytes: Span<UInt8>, _ fields: HeadIndex) -> String {
    joined(values("accept-language", bytes, fields))
  }

  /// Returns the values of `Accept` or `Accept-Language` fields as one text of at most 1,000 bytes, in ASCII. Browsers send
  /// fewer than 200.
  public static func joined(_ values: [String]) -> String {
    var text: [UInt8] = []
    for value in values where text.count < maximumLength {
      if !text.isEmpty { text.append(UInt8(ascii: ",")) }
      text += value.utf8.prefix(maximumLength - text.count).map { $0 < 0x80 ? $0 : 0x7f }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static let maximumLength = 1_000

  private static func values(_ name: String, _ bytes: Span<UInt8>, _ fields: HeadIndex) -> [String] {
    var values: [String] = []
    for field in fields where HeadIndex.equalIgnoringCase(bytes, field.name, name) {
      values.append(RequestReader.text(bytes, field.value))
    }
    return values
  }

  /// Returns the weight in thousandths (RFC 9110, section 12.4.2): 1,000 without a weight, and 0 for a malformed
  /// weight. A weight is malformed if it does not begin with a digit, has other characters than digits and periods, or
  /// has more than four digits. A weight above 1 counts as 1.
  package static func weight(_ parameters: ArraySlice<Substring>) -> Int {
    guard let text = parameters.first(where: { $0.hasPrefix("q=") })?.dropFirst(2) else { return 1_000 }
    let digits = text.filter { $0 != "." }
    guard text.first != ".", digits.count <= 4, digits.allSatisfy({ "0"..."9" ~= $0 }), let value = Int(digits) else {
      return 0
    }
    return min(1_000, (digits.count..<4).reduce(value) { scaled, _ in scaled * 10 })
  }
}
