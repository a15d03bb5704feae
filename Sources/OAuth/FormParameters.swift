/// Parameters in `application/x-www-form-urlencoded` form, of a query or a body (RFC 6749, appendix B), in order.
///
/// Parsing is strict and loses nothing that matters for a decision: names are decoded before they are compared, what
/// cannot be decoded is kept as malformed, and other spellings that some servers fold onto a parameter are found
/// (`FormParameters+Spellings.swift`).
public struct FormParameters: Sendable, Equatable {
  public struct Entry: Sendable, Equatable {
    public let name: String
    public let value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// What stands under one name.
  public enum Reading: Sendable, Equatable {
    /// Not there, or without a value, which counts as not there (RFC 6749, section 3.1).
    case absent
    case value(String)
    /// There more than once, whether or not the values agree.
    case repeated
    /// A broken percent-escape, bytes that are not UTF-8, or a control character.
    case malformed
  }

  /// More than any request of the field has; enough to stop a flood from costing memory.
  public static let maximumCount = 128

  public private(set) var entries: [Entry] = []
  /// Names whose value could not be decoded.
  public private(set) var malformedNames: [String] = []
  /// Whether a name could not be decoded, so that nobody knows which parameter it was meant to be.
  public private(set) var hasMalformedName = false
  /// Names that a server which also separates at semicolons would see.
  private(set) var namesAfterSemicolon: [String] = []

  public init(_ entries: [Entry] = []) {
    self.entries = entries
  }

  /// `nil` when there are more than ``maximumCount`` parameters.
  public init?(parsing bytes: some Sequence<UInt8>) {
    var count = 0
    for pair in Array(bytes).split(separator: UInt8(ascii: "&")) {
      count += 1
      guard count <= FormParameters.maximumCount else { return nil }
      add(pair)
    }
  }

  /// Parses text, e.g. a query without its question mark.
  public init?(parsing text: some StringProtocol) {
    self.init(parsing: text.utf8)
  }

  private mutating func add(_ pair: ArraySlice<UInt8>) {
    let rawName = pair.prefix { $0 != UInt8(ascii: "=") }
    let rawValue = pair[rawName.endIndex...].dropFirst()
    noteSemicolons(pair)
    guard let name = FormEncoding.decode(rawName) else {
      hasMalformedName = true
      return
    }
    guard let value = FormEncoding.decode(rawValue), !value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
      malformedNames.append(name)
      return
    }
    entries.append(Entry(name, value))
  }

  private mutating func noteSemicolons(_ pair: ArraySlice<UInt8>) {
    guard pair.contains(UInt8(ascii: ";")) else { return }
    for piece in pair.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).dropFirst() {
      guard piece.contains(UInt8(ascii: "=")) else { continue }
      namesAfterSemicolon.append(FormEncoding.decode(piece.prefix { $0 != UInt8(ascii: "=") }) ?? "")
    }
  }

  /// What stands under `name`.
  public func reading(_ name: String) -> Reading {
    if malformedNames.contains(name) { return .malformed }
    var found: String?
    for entry in entries where entry.name == name {
      guard found == nil else { return .repeated }
      found = entry.value
    }
    guard let found, !found.isEmpty else { return .absent }
    return .value(found)
  }

  /// The value under `name`; `nil` unless it is there exactly once, decodes and is not empty.
  public subscript(_ name: String) -> String? {
    guard case .value(let value) = reading(name) else { return nil }
    return value
  }

  /// All values under `name`, in order, the empty ones left out.
  public func all(_ name: String) -> [String] {
    entries.filter { $0.name == name && !$0.value.isEmpty }.map(\.value)
  }

  /// Whether `name` occurs at all, with whatever value.
  public func contains(_ name: String) -> Bool {
    entries.contains { $0.name == name } || malformedNames.contains(name)
  }

  public var isEmpty: Bool { entries.isEmpty && malformedNames.isEmpty && !hasMalformedName }

  /// The first name that occurs more than once and is not among `exceptions`.
  public func firstRepeated(except exceptions: Set<String>) -> String? {
    var seen: Set<String> = []
    for name in entries.map(\.name) + malformedNames where !exceptions.contains(name) {
      guard seen.insert(name).inserted else { return name }
    }
    return nil
  }

  /// The one canonical spelling: as the WHATWG serialiser writes it, with `%20` for a space so that a server which
  /// only knows URIs reads it the same.
  public var serialised: String { FormEncoding.serialise(entries) }
}
