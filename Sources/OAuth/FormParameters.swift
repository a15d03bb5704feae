internal import Bytes

/// Parameters in `application/x-www-form-urlencoded` form, of a query or a body (RFC 6749, appendix B), in order.
///
/// Parsing is strict and loses nothing that matters for a decision: names are decoded before they are compared, what
/// cannot be decoded is kept as malformed, and other spellings that some servers fold onto a parameter are found
/// (`FormParameters+Spellings.swift`).
public struct FormParameters: Sendable, Equatable {
  public struct Entry: Sendable, Equatable {
    /// The parameter that it is; `nil` for one that means nothing anywhere, and for it alone.
    public let parameter: ParameterName?
    /// The name where that is none of the parameters; empty otherwise.
    fileprivate let otherName: String
    public let value: String

    public init(_ parameter: ParameterName, _ value: String) {
      self.parameter = parameter
      otherName = ""
      self.value = value
    }

    public init(_ name: String, _ value: String) {
      parameter = ParameterName(name)
      otherName = parameter == nil ? name : ""
      self.value = value
    }

    /// Decoded.
    public var name: String { parameter?.text ?? otherName }
  }

  /// What stands under one name.
  public enum ParameterValue: Sendable, Equatable {
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
  /// True if a name could not be decoded, so that nobody knows which parameter it was meant to be.
  public private(set) var hasMalformedName = false
  /// Names that a server which also separates at semicolons would see.
  private(set) var namesAfterSemicolon: [String] = []
  /// The parameters among ``entries``.
  private var present: ParameterNames = []
  /// Those of them that have a value somewhere.
  private var valued: ParameterNames = []
  /// Those of them that are there more than once.
  private var repeated: ParameterNames = []
  /// The parameters among ``malformedNames``.
  private var malformed: ParameterNames = []

  public init() {}

  public init(_ entries: [Entry]) {
    for entry in entries { append(entry) }
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
    // A parameter that is written plainly needs no text of its own.
    let parameter = ParameterName(pair.extracting(name))
    var otherName = ""
    if parameter == nil {
      guard let decoded = FormEncoding.decode(pair.extracting(name)) else {
        hasMalformedName = true
        return
      }
      otherName = decoded
    }
    guard let value = FormEncoding.decode(pair.extracting(value)), !value.utf8.span.hasControl else {
      let name = parameter?.text ?? otherName
      malformedNames.append(name)
      if let parameter = ParameterName(name) { malformed.formUnion(ParameterNames(parameter)) }
      return
    }
    append(parameter.map { Entry($0, value) } ?? Entry(otherName, value))
  }

  private mutating func append(_ entry: Entry) {
    if let parameter = entry.parameter {
      if present.contains(parameter) { repeated.formUnion(ParameterNames(parameter)) }
      present.formUnion(ParameterNames(parameter))
      if !entry.value.isEmpty { valued.formUnion(ParameterNames(parameter)) }
    }
    entries.append(entry)
  }

  /// The parameter that a pair is, as the parser reads it; `nil` for every other one.
  public static func parameter(of pair: Span<UInt8>) -> ParameterName? {
    let name = pair.extracting(parts(of: pair).name)
    return ParameterName(name) ?? FormEncoding.decode(name).flatMap { ParameterName($0) }
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

  /// What stands under a name.
  public func reading(_ parameter: ParameterName) -> ParameterValue {
    if malformed.contains(parameter) { return .malformed }
    guard let index = index(of: parameter, from: 0) else { return .absent }
    if repeated.contains(parameter) { return .repeated }
    let value = entries[index].value
    return value.isEmpty ? .absent : .value(value)
  }

  /// Where the next entry under a name stands. Entries are looked at where they are: a loop over them would count
  /// references of each.
  private func index(of parameter: ParameterName, from start: Int) -> Int? {
    guard present.contains(parameter) else { return nil }
    let entries = entries.span
    var index = start
    while index < entries.count {
      if entries[index].parameter == parameter { return index }
      index &+= 1
    }
    return nil
  }

  /// The value under a name; `nil` unless it is there exactly once, decodes and is not empty.
  public subscript(_ parameter: ParameterName) -> String? {
    guard case .value(let value) = reading(parameter) else { return nil }
    return value
  }

  /// What stands under any name, e.g. one of a form of the gateway's own.
  public func reading(named name: String) -> ParameterValue {
    if let parameter = ParameterName(name) { return reading(parameter) }
    if malformedNames.contains(name) { return .malformed }
    guard let index = index(ofOther: name, from: 0) else { return .absent }
    guard self.index(ofOther: name, from: index + 1) == nil else { return .repeated }
    let value = entries[index].value
    return value.isEmpty ? .absent : .value(value)
  }

  /// Where the next entry under a name that is none of the parameters stands. Bytes are compared: what Unicode calls equal
  /// is another name.
  private func index(ofOther name: String, from start: Int) -> Int? {
    let entries = entries.span
    let length = name.utf8.count
    var index = start
    while index < entries.count {
      let isCandidate = entries[index].parameter == nil && entries[index].otherName.utf8.count == length
      if isCandidate, entries[index].otherName.utf8.span.isEqual(to: name.utf8.span) { return index }
      index &+= 1
    }
    return nil
  }

  /// The value under any name; `nil` unless it is there exactly once, decodes and is not empty.
  public subscript(named name: String) -> String? {
    guard case .value(let value) = reading(named: name) else { return nil }
    return value
  }

  /// All values under a name, in order, the empty ones left out.
  public func all(_ parameter: ParameterName) -> [String] {
    var values: [String] = []
    var next = index(of: parameter, from: 0)
    while let index = next {
      if !entries[index].value.isEmpty { values.append(entries[index].value) }
      next = self.index(of: parameter, from: index + 1)
    }
    return values
  }

  /// Returns true if the parameter is among ``given``.
  public func contains(_ parameter: ParameterName) -> Bool { given.contains(parameter) }

  /// The parameters that have a value, readable or not. A parameter without a value counts as omitted (RFC 6749, section
  /// 3.1).
  public var given: ParameterNames { valued.union(malformed) }

  public var isEmpty: Bool { entries.isEmpty && malformedNames.isEmpty && !hasMalformedName }

  /// The entries under whose name a decision would find more than one value.
  public var repeatedEntries: [Entry] {
    var found: [Entry] = []
    for index in entries.indices where isRepeated(index) { found.append(entries[index]) }
    return found
  }

  private func isRepeated(_ index: Int) -> Bool {
    if let parameter = entries[index].parameter {
      return repeated.contains(parameter) && !malformed.contains(parameter)
    }
    let name = entries[index].otherName
    let isAlone = self.index(ofOther: name, from: 0) == index && self.index(ofOther: name, from: index + 1) == nil
    return !isAlone && !malformedNames.contains(name)
  }

  /// The first name that occurs more than once.
  public var firstRepeated: String? {
    var seen: Set<String> = []
    return (entries.map(\.name) + malformedNames).first { !seen.insert($0).inserted }
  }

  /// The one canonical spelling: as the WHATWG serialiser writes it, with `%20` for a space so that a server which
  /// only knows URIs reads it the same.
  public var serialised: String { FormEncoding.serialise(entries) }
}
