import HTTP1

/// A head after scanner and parser, with the bytes that its offsets refer to.
struct Parsed<Head> {
  let head: Head
  let index: HeadIndex
  let bytes: [UInt8]

  func text(_ range: Range<Int>?) -> String? {
    range.map { String(decoding: bytes[$0], as: UTF8.self) }
  }

  /// The values of all fields that are recognised as `known`.
  func values(_ known: KnownField) -> [String] {
    index.filter { $0.known == known }.compactMap { text($0.value) }
  }

  var names: [String] { index.compactMap { text($0.name) } }
  var nominated: [String] { index.filter(\.isNamedByConnection).compactMap { text($0.name) } }
}

/// Returns nil if the head is incomplete.
func parseRequest(
  _ bytes: [UInt8], limits: HeadLimits = .standard, into index: HeadIndex = HeadIndex()
) throws(MessageError) -> Parsed<RequestHead>? {
  var scanner = HeadScanner()
  guard let length = try scanner.end(of: bytes.span) else { return nil }
  let head = try RequestHeadParser.parse(bytes.span, length: length, limits: limits, into: index)
  return Parsed(head: head, index: index, bytes: bytes)
}

func parseRequest(_ text: String) throws(MessageError) -> Parsed<RequestHead>? {
  try parseRequest(Array(text.utf8))
}

func parseResponse(
  _ bytes: [UInt8], to method: Method = .get, into index: HeadIndex = HeadIndex()
) throws(MessageError) -> Parsed<ResponseHead>? {
  var scanner = HeadScanner()
  guard let length = try scanner.end(of: bytes.span) else { return nil }
  return Parsed(
    head: try ResponseHeadParser.parse(bytes.span, length: length, to: method, into: index), index: index, bytes: bytes)
}

func parseResponse(_ text: String, to method: Method = .get) throws(MessageError) -> Parsed<ResponseHead>? {
  try parseResponse(Array(text.utf8), to: method)
}

/// The status with which a request is refused; nil if it is accepted or incomplete.
func refusal(_ bytes: [UInt8]) -> Int? {
  do throws(MessageError) {
    _ = try parseRequest(bytes)
    return nil
  } catch {
    return error.status
  }
}

func refusal(_ text: String) -> Int? { refusal(Array(text.utf8)) }

/// True if a response head is refused.
func isRefused(response text: String, to method: Method = .get) -> Bool {
  do throws(MessageError) {
    return try parseResponse(text, to: method) == nil
  } catch {
    return true
  }
}
