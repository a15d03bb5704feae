internal import Bytes

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
  public init?(parsing bytes: Span<UInt8>) {
    var count = 0
    var start = 0
    // What an authorization request has, so that the array grows once.
    if !bytes.isEmpty { entries.reserveCapacity(8) }
    while start < bytes.count {
      let end = bytes.firstIndex(of: UInt8(ascii: "&"), from: start) ?? bytes.count
      if start < end {
        count += 1
        guard count <= FormParameters.maximumCount else { return nil }
        add(bytes.extracting(start..<end))
      }
      start = end + 1
    }
  }

  public init?(parsing bytes: [UInt8]) { self.init(parsing: bytes.span) }

  /// Parses text, e.g. a query without its question mark.
  public init?(parsing text: String) { self.init(parsing: text.utf8.span) }

  public init?(parsing text: Substring) { self.init(parsing: text.utf8.span) }

  private mutating func add(_ pair: Span<UInt8>) {
    let (name, value) = FormParameters.parts(of: pair)
    noteSemicolons(pair)
    guard let name = FormEncoding.decode(pair.extracting(name)) else {
      hasMalformedName = true
      return
    }
    guard let value = FormEncoding.decode(pair.extracting(value)), !value.utf8.span.hasControl else {
      malformedNames.append(name)
      return
    }
    entries.append(Entry(name, value))
  }

  /// The name of a pair as the parser reads it; `nil` when it does not decode.
  public static func name(of pair: Span<UInt8>) -> String? {
    FormEncoding.decode(pair.extracting(parts(of: pair).name))
  }

  private static func parts(of pair: Span<UInt8>) -> (name: Range<Int>, value: Range<Int>) {
    guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return (0..<pair.count, pair.count..<pair.count) }
    return (0..<equals, equals + 1..<pair.count)
  }

  private mutating func noteSemicolons(_ pair: Span<UInt8>) {
    guard pair.contains(UInt8(ascii: ";")) else { return }
    var next = pair.firstIndex(of: UInt8(ascii: ";"))
    while let semicolon = next {
      next = pair.firstIndex(of: UInt8(ascii: ";"), from: semicolon + 1)
      let piece = pair.extracting(semicolon + 1..<(next ?? pair.count))
      guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else { continue }
      namesAfterSemicolon.append(FormEncoding.decode(piece.extracting(0..<equals)) ?? "")
    }
  }

  /// What stands under `name`.
  public func reading(_ name: String) -> Reading {
    if !malformedNames.isEmpty, malformedNames.contains(name) { return .malformed }
    guard let index = index(of: name, from: 0) else { return .absent }
    guard self.index(of: name, from: index + 1) == nil else { return .repeated }
    let value = entries[index].value
    return value.isEmpty ? .absent : .value(value)
  }

  /// Where the next entry under `name` stands. Entries are looked at where they are: a loop over them would count
  /// references of both texts of each.
  private func index(of name: String, from start: Int) -> Int? {
    let entries = entries.span
    var index = start
    while index < entries.count {
      if entries[index].name.utf8.count == name.utf8.count, entries[index].name == name { return index }
      index &+= 1
    }
    return nil
  }

  /// The value under `name`; `nil` unless it is there exactly once, decodes and is not empty.
  public subscript(_ name: String) -> String? {
    guard case .value(let value) = reading(name) else { return nil }
    return value
  }

  /// All values under `name`, in order, the empty ones left out.
  public func all(_ name: String) -> [String] {
    var values: [String] = []
    var next = index(of: name, from: 0)
    while let index = next {
      if !entries[index].value.isEmpty { values.append(entries[index].value) }
      next = self.index(of: name, from: index + 1)
    }
    return values
  }

  /// Whether `name` occurs at all, with whatever value.
  public func contains(_ name: String) -> Bool {
    index(of: name, from: 0) != nil || !malformedNames.isEmpty && malformedNames.contains(name)
  }

  public var isEmpty: Bool { entries.isEmpty && malformedNames.isEmpty && !hasMalformedName }

  /// The names under which a decision would find more than one value, each as often as it occurs.
  public var repeatedNames: [String] {
    var names: [String] = []
    for position in entries.indices where reading(entries[position].name) == .repeated {
      names.append(entries[position].name)
    }
    return names
  }

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
