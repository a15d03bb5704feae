internal import ByteText

/// The parameters of a query or a body in `application/x-www-form-urlencoded` form (RFC 6749, appendix B), in order.
///
/// Names are decoded before they are compared. A parameter that cannot be decoded is recorded, not ignored, so that a
/// request with it can be refused. `FormParameters+Spellings.swift` finds alternative spellings of known parameters.
public struct FormParameters: Sendable, Equatable {
  /// One parameter: a name and a value, both decoded.
  public struct Entry: Sendable, Equatable {
    /// The known parameter; `nil` for any other name.
    public let parameter: ParameterName?
    /// The name if `parameter` is `nil`; otherwise empty.
    fileprivate let otherName: String
    /// The value, decoded.
    public let value: String

    /// Creates an entry for a known parameter.
    public init(_ parameter: ParameterName, _ value: String) {
      self.parameter = parameter
      otherName = ""
      self.value = value
    }

    /// Creates an entry from a decoded name and a decoded value.
    public init(_ name: String, _ value: String) {
      parameter = ParameterName(name)
      otherName = parameter == nil ? name : ""
      self.value = value
    }

    /// The name, decoded.
    public var name: String { parameter?.text ?? otherName }
  }

  /// The value of a parameter, or the reason why it has no single value.
  public enum ParameterValue: Sendable, Equatable {
    /// The name does not occur, or its value is empty, which counts as omitted (RFC 6749, section 3.1).
    case absent
    case value(String)
    /// The name occurs more than once, with equal, different or empty values.
    case repeated
    /// A value of the name has a malformed percent-escape, bytes that are not UTF-8, or a control character.
    case malformed
  }

  /// The maximum number of parameters, whether `&` or `;` separates them. OAuth requests have fewer, and a request with
  /// so many needs little memory.
  public static let maximumCount = 128
  /// The maximum number of bytes of all names together, encoded. Each name is compared with the known ones in every
  /// spelling that some server accepts, which costs much more than the reading of a value.
  public static let maximumNameBytes = 8 * 1024
  /// The maximum number of bytes of all names and values together, decoded, that have a character outside ASCII. The
  /// parameters of OAuth are ASCII, except names of people and passwords (RFC 6749, appendix A). The comparison of such
  /// texts normalises them, which costs up to some thousand instructions for each byte.
  public static let maximumUnicodeBytes = 1_024
  /// The maximum number of bytes of all values together, as the gateway encodes them: three for each character that is not
  /// unreserved. Known requests have a few KiB, and SAML assertions (RFC 7522) up to 16 KiB. The gateway holds a value up to
  /// three times: decoded, and encoded for the server.
  public static let maximumValueBytes = 24 * 1_024

  /// The amounts that the limits bound.
  private struct Extent {
    var count = 0
    var nameBytes = 0
    var unicodeBytes = 0
    var valueBytes = 0

    var isWithinLimits: Bool {
      count <= maximumCount && nameBytes <= maximumNameBytes && unicodeBytes <= maximumUnicodeBytes
        && valueBytes <= maximumValueBytes
    }

    mutating func countUnicode(_ text: String) {
      if !text.utf8.span.isASCII { unicodeBytes += text.utf8.count }
    }
  }

  /// The parameters whose name and value could be decoded, in order.
  public private(set) var entries: [Entry] = []
  /// The defects of the encoded text; `nil` if there are none.
  private var defects: Defects?
  /// The known parameters among ``entries``.
  private var present: ParameterNames = []
  /// The known parameters that have a value in some entry.
  private var valued: ParameterNames = []
  /// The known parameters that occur more than once among ``entries``.
  private var repeated: ParameterNames = []

  /// The defects of an encoded text. Nearly all texts have none, so a copy of the parameters copies only the reference
  /// to the entries.
  private struct Defects: Sendable, Equatable {
    var namesWithMalformedValue: [String] = []
    /// The known parameters among `namesWithMalformedValue`.
    var malformed: ParameterNames = []
    var hasMalformedName = false
    var namesAfterSemicolon: [String] = []

    /// Changes the defects in place. A changed copy would copy the names for each defect of a text.
    mutating func record(_ change: (inout Defects) -> Void) { change(&self) }
  }

  /// The names whose value could not be decoded.
  public var namesWithMalformedValue: [String] { defects?.namesWithMalformedValue ?? [] }

  /// True if a name, also one after a semicolon, could not be decoded. Such a parameter may be any known parameter.
  public var hasMalformedName: Bool { defects?.hasMalformedName ?? false }

  /// The additional names that a server would find if it also separated parameters at semicolons.
  public var namesAfterSemicolon: [String] { defects?.namesAfterSemicolon ?? [] }

  /// The known parameters among ``namesWithMalformedValue``.
  private var malformed: ParameterNames { defects?.malformed ?? [] }

  /// Creates an empty list.
  public init() {}

  /// Creates a list from decoded entries.
  public init(_ entries: [Entry]) {
    for entry in entries { append(entry) }
  }

  /// Parses an encoded query or body; `nil` if it has more than ``maximumCount`` parameters, more than
  /// ``maximumNameBytes`` of names, more than ``maximumValueBytes`` of values, or more than ``maximumUnicodeBytes`` of text
  /// outside ASCII.
  public init?(parsing bytes: Span<UInt8>) {
    var extent = Extent()
    var start = 0
    // An authorization request usually has about this many parameters, so the array grows once.
    if !bytes.isEmpty { entries.reserveCapacity(8) }
    // The values of a shorter text have not so many bytes.
    let isLong = bytes.count > FormParameters.maximumValueBytes / FormEncoding.lengthOfEscape
    while start < bytes.count {
      let end = bytes.firstIndex(of: UInt8(ascii: "&"), from: start) ?? bytes.count
      if start < end {
        let pair = bytes.extracting(start..<end)
        extent.count += 1
        let parts = FormParameters.parts(of: pair)
        extent.nameBytes += parts.name.count
        if isLong { extent.valueBytes += FormEncoding.sizeBound(ofEncoded: pair.extracting(parts.value)) }
        guard extent.isWithinLimits else { return nil }
        add(pair, &extent)
        guard extent.isWithinLimits else { return nil }
      }
      start = end + 1
    }
  }

  /// Parses an encoded body; `nil` if it exceeds a limit.
  public init?(parsing bytes: [UInt8]) { self.init(parsing: bytes.span) }

  /// Parses text, e.g. a query without its question mark; `nil` if it exceeds a limit.
  public init?(parsing text: String) { self.init(parsing: text.utf8.span) }

  /// Parses text, e.g. a query without its question mark; `nil` if it exceeds a limit.
  public init?(parsing text: Substring) { self.init(parsing: text.utf8.span) }

  /// Adds a pair to the entries or defects, and the pieces after semicolons and all text outside ASCII to `extent`.
  private mutating func add(_ pair: Span<UInt8>, _ extent: inout Extent) {
    let (name, value) = FormParameters.parts(of: pair)
    // Nearly all pairs have nothing to split, decode or refuse. One pass over the bytes detects this.
    let isPlain = FormEncoding.isPlain(pair)
    if !isPlain { recordNamesAfterSemicolons(pair, &extent) }
    // A known name without escapes is compared as bytes, without creating a string.
    let parameter = ParameterName(pair.extracting(name))
    var otherName = ""
    if parameter == nil {
      guard let decoded = FormEncoding.decode(pair.extracting(name)) else {
        recordDefect { $0.hasMalformedName = true }
        return
      }
      otherName = decoded
      if !isPlain { extent.countUnicode(decoded) }
    }
    let bytes = pair.extracting(value)
    guard let value = isPlain ? String(validating: bytes) : FormEncoding.decode(bytes),
      isPlain || !value.utf8.span.hasControl
    else {
      recordMalformedValue(of: parameter?.text ?? otherName)
      return
    }
    if !isPlain { extent.countUnicode(value) }
    if let parameter {
      append(Entry(parameter, value))
    } else {
      append(Entry(otherName, value))
    }
  }

  private mutating func append(_ entry: consuming Entry) {
    if let parameter = entry.parameter {
      let name = ParameterNames(parameter)
      repeated.formUnion(present.intersection(name))
      present.formUnion(name)
      if !entry.value.isEmpty { valued.formUnion(name) }
    }
    entries.append(entry)
  }

  private mutating func recordMalformedValue(of name: String) {
    recordDefect { defects in
      defects.namesWithMalformedValue.append(name)
      if let parameter = ParameterName(name) { defects.malformed.formUnion(ParameterNames(parameter)) }
    }
  }

  private mutating func recordDefect(_ change: (inout Defects) -> Void) {
    if defects == nil { defects = Defects() }
    defects?.record(change)
  }

  /// Returns the ranges of the name and the value in an encoded `name=value` pair.
  static func parts(of pair: Span<UInt8>) -> (name: Range<Int>, value: Range<Int>) {
    guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return (0..<pair.count, pair.count..<pair.count) }
    return (0..<equals, equals + 1..<pair.count)
  }

  private mutating func recordNamesAfterSemicolons(_ pair: Span<UInt8>, _ extent: inout Extent) {
    var next = pair.firstIndex(of: UInt8(ascii: ";"))
    while let semicolon = next, extent.isWithinLimits {
      next = pair.firstIndex(of: UInt8(ascii: ";"), from: semicolon + 1)
      let piece = pair.extracting(semicolon + 1..<(next ?? pair.count))
      guard !piece.isEmpty else { continue }
      extent.count += 1
      guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else { continue }
      extent.nameBytes += equals
      guard let name = FormEncoding.decode(piece.extracting(0..<equals)) else {
        recordDefect { $0.hasMalformedName = true }
        continue
      }
      extent.countUnicode(name)
      recordDefect { $0.namesAfterSemicolon.append(name) }
    }
  }

  /// Returns the value of a known parameter, or the reason why it has no single value.
  public func lookUp(_ parameter: ParameterName) -> ParameterValue {
    if malformed.contains(parameter) { return .malformed }
    guard let index = index(of: parameter, from: 0) else { return .absent }
    if repeated.contains(parameter) { return .repeated }
    let value = entries[index].value
    return value.isEmpty ? .absent : .value(value)
  }

  /// Returns the index of the first entry for a known parameter at or after `start`; `nil` if there is none. The
  /// entries are read in place, because a loop over the array would change the reference counts of each entry.
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

  /// The value of a known parameter; `nil` if it is missing, empty, repeated or malformed.
  public subscript(_ parameter: ParameterName) -> String? {
    guard case .value(let value) = lookUp(parameter) else { return nil }
    return value
  }

  /// Returns the value of any name, such as a field of the gateway's own forms, or the reason why it has no single
  /// value.
  public func lookUp(named name: String) -> ParameterValue {
    if let parameter = ParameterName(name) { return lookUp(parameter) }
    if namesWithMalformedValue.contains(name) { return .malformed }
    guard let index = index(ofOtherName: name, from: 0) else { return .absent }
    guard self.index(ofOtherName: name, from: index + 1) == nil else { return .repeated }
    let value = entries[index].value
    return value.isEmpty ? .absent : .value(value)
  }

  /// Returns the index of the first entry at or after `start` for a name that is not a known parameter; `nil` if there
  /// is no such entry. Bytes are compared, because names that are only equivalent in Unicode are different.
  private func index(ofOtherName name: String, from start: Int) -> Int? {
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

  /// The value of any name; `nil` if it is missing, empty, repeated or malformed.
  public subscript(named name: String) -> String? {
    guard case .value(let value) = lookUp(named: name) else { return nil }
    return value
  }

  /// Returns all values of a parameter, in order, except those that are empty or cannot be decoded.
  public func all(_ parameter: ParameterName) -> [String] {
    var values: [String] = []
    var next = index(of: parameter, from: 0)
    while let index = next {
      if !entries[index].value.isEmpty { values.append(entries[index].value) }
      next = self.index(of: parameter, from: index + 1)
    }
    return values
  }

  /// True if the parameter has a value, even one that cannot be decoded.
  public func contains(_ parameter: ParameterName) -> Bool { parametersWithValue.contains(parameter) }

  /// The known parameters that have a value, even one that cannot be decoded. A parameter without a value counts as
  /// omitted (RFC 6749, section 3.1).
  public var parametersWithValue: ParameterNames { valued.union(malformed) }

  /// True if there are no parameters, not even malformed ones.
  public var isEmpty: Bool { entries.isEmpty && namesWithMalformedValue.isEmpty && !hasMalformedName }

  /// The entries whose name occurs more than once. A name is left out if one of its values cannot be decoded.
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
    let isAlone =
      self.index(ofOtherName: name, from: 0) == index && self.index(ofOtherName: name, from: index + 1) == nil
    return !isAlone && !namesWithMalformedValue.contains(name)
  }

  /// The first name that repeats an earlier one; `nil` if there is none.
  public var firstRepeatedName: String? {
    var seen: Set<String> = []
    return (entries.map(\.name) + namesWithMalformedValue).first { !seen.insert($0).inserted }
  }

  /// The entries, encoded. All characters except unreserved ones are percent-encoded. A space becomes `%20` instead of
  /// `+`, so that a server that decodes the result like any other part of a URI, where `+` is not a space, reads the
  /// same values.
  public var serialised: String { FormEncoding.serialise(entries) }
}
