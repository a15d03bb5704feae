internal import ByteText

/// The positions of a head's fields in the receive buffer, as offsets. Names and values are not copied.
///
/// A worker reuses an index for many messages. This is possible because a worker does not wait between parsing a head
/// and rewriting this head. The body of a loop over the index must neither wait nor parse another head into the index,
/// because the loop would then continue with the fields of the other head.
public final class HeadIndex {
  /// One field, as offsets into the bytes of the head.
  public struct Field: Sendable {
    fileprivate var nameStart: UInt16 = 0
    fileprivate var nameEnd: UInt16 = 0
    fileprivate var valueStart: UInt16 = 0
    fileprivate var valueEnd: UInt16 = 0
    /// The kind of field, from its name.
    public fileprivate(set) var known = KnownField.none
    /// True if a `Connection` option names the field, so that it must not be forwarded (RFC 9110, section 7.6.1).
    public fileprivate(set) var isNamedByConnection = false

    /// The range of the name.
    public var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    /// The range of the value, without surrounding white space.
    public var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
  }

  /// The maximum number of fields. Browsers and servers send fewer. Each field takes memory, and time when the head is
  /// rewritten.
  public static let fieldLimit = 100

  /// The maximum number of `Connection` options. Legitimate messages have fewer. The number is limited because each
  /// option is compared with every field.
  static let optionLimit = 32
  /// The maximum length of a head in bytes, because offsets are stored in 16 bits.
  private static let lengthLimit = Int(UInt16.max)

  /// The fields. They are stored inline, because an array would be checked for unique ownership at each write.
  private var records = InlineArray<100, Field>(repeating: Field())
  /// The number of fields.
  public private(set) var count = 0
  /// One bit for each kind of field that occurs, so that fields of other kinds are not searched for.
  private var presentKinds: UInt64 = 0
  /// True if a `Connection` option names a field that it may remove, present or not. A trailer with this name must not
  /// be forwarded either (RFC 9110, section 7.6.1).
  public private(set) var hasRemovingOption = false
  /// Hashes of the folded names of the first `hashedCount` fields. They are computed when names are compared with each
  /// other, so that a peer cannot choose names for which this takes long.
  private var hashes = InlineArray<100, UInt64>(repeating: 0)
  private var hashedCount = 0
  private let hashKey = UInt64.random(in: 0...UInt64.max) | 1
  private let table = KnownFieldTable()
  /// The folded form (`foldedInName`) of each byte that may occur in a token; 0 for all other bytes.
  private let foldedTokens: InlineArray<256, UInt8>

  /// Creates an empty index.
  public init() {
    precondition(records.count == HeadIndex.fieldLimit, "a record for each field")
    foldedTokens = InlineArray { UInt8($0).isToken ? UInt8($0).foldedInName : 0 }
  }

  /// The field at `index`. Traps if `index` is out of range.
  public subscript(index: Int) -> Field {
    precondition(index < count, "no such field")
    return records[index]
  }

  func clear() {
    count = 0
    hashedCount = 0
    presentKinds = 0
    hasRemovingOption = false
  }

  /// Removes the fields with one of these names in folded form (`foldedInName`): lower-case letters, digits and hyphens.
  /// So `X_A` is removed together with `X-A`, because some servers confuse the two.
  public func remove(_ names: [String], _ bytes: Span<UInt8>) {
    let total = count
    count = 0
    hashedCount = 0
    presentKinds = 0
    for index in 0..<total
    where !names.contains(where: { HeadIndex.equalAfterFolding(bytes, records[index].name, $0) }) {
      records[count] = records[index]
      presentKinds |= 1 << UInt64(records[index].known.rawValue)
      count &+= 1
    }
  }

  /// True if a field of this kind occurs.
  public func has(_ known: KnownField) -> Bool { presentKinds >> UInt64(known.rawValue) & 1 == 1 }

  /// True if a field with a URL for the browser occurs: Location, Content-Location, Refresh or Link.
  public var hasLocationOrLink: Bool { presentKinds & HeadIndex.locationOrLinkKinds != 0 }
  private static let locationOrLinkKinds: UInt64 =
    1 << UInt64(KnownField.location.rawValue) | 1 << UInt64(KnownField.contentLocation.rawValue)
    | 1 << UInt64(KnownField.refresh.rawValue) | 1 << UInt64(KnownField.link.rawValue)

  /// Returns true if a field that is not `irregular` has the same folded name (`foldedInName`) as `field`, which is
  /// `irregular`. Some servers confuse two such fields.
  public func foldsToNameOfOtherField(_ field: Field, _ bytes: Span<UInt8>) -> Bool {
    hashNames(bytes)
    let hash = hash(bytes, field.name)
    for index in 0..<count
    where hashes[index] == hash && records[index].known != .irregular
      && HeadIndex.equalAfterFolding(bytes, records[index].name, field.name)
    {
      return true
    }
    return false
  }

  private func hashNames(_ bytes: Span<UInt8>) {
    while hashedCount < count {
      hashes[hashedCount] = hash(bytes, records[hashedCount].name)
      hashedCount &+= 1
    }
  }

  /// Returns a hash of the folded form of a name. Only this index knows the key, so a peer cannot choose names with the same
  /// hash.
  private func hash(_ bytes: Span<UInt8>, _ name: Range<Int>) -> UInt64 {
    var hash = hashKey
    for index in name {
      hash = (hash ^ UInt64(bytes[index].foldedInName)) &* hashKey
      hash ^= hash &>> 29
    }
    return hash
  }

  /// Returns the range of the value of the only field of this kind; `nil` if there is no such field or more than one.
  public func onlyValue(of known: KnownField) -> Range<Int>? {
    guard has(known) else { return nil }
    var found: Range<Int>?
    for index in 0..<count where records[index].known == known {
      if found != nil { return nil }
      found = records[index].value
    }
    return found
  }

  /// Returns the range of the value of the first field of this kind; `nil` if there is no such field.
  public func firstValue(of known: KnownField) -> Range<Int>? {
    guard has(known) else { return nil }
    for index in 0..<count where records[index].known == known { return records[index].value }
    return nil
  }

  /// Returns the range of the value of the last field of this kind; `nil` if there is no such field.
  public func lastValue(of known: KnownField) -> Range<Int>? {
    guard has(known) else { return nil }
    for index in (0..<count).reversed() where records[index].known == known { return records[index].value }
    return nil
  }

  /// Parses the field section from `start` to `end`, the offset after its empty line.
  ///
  /// Grammar (RFC 9112, section 5): `*( field-name ":" OWS field-value OWS CRLF ) CRLF`. Rejects white space in front
  /// of the colon, folded lines, empty names, control characters other than tabs, bare carriage returns and too many
  /// fields. Bare line feeds are rejected, too, as control characters.
  func parseFields(
    _ bytes: Span<UInt8>, from start: Int, to end: Int, limit: Int = HeadIndex.fieldLimit
  ) throws(MessageError) {
    guard end <= HeadIndex.lengthLimit else {
      throw MessageError(status: 431, "a head longer than \(HeadIndex.lengthLimit) bytes")
    }
    let limit = Swift.min(limit, HeadIndex.fieldLimit)
    var position = start
    while position < end - 2 {
      if count >= limit {
        throw MessageError(status: 431, "more than \(limit) header fields", limit: .fields)
      }
      let nameStart = position
      let (nameEnd, isPlain) = endOfName(bytes, from: nameStart)
      position = nameEnd
      guard bytes[position] == .colon else {
        throw HeadIndex.nameError(bytes[position], isFirst: position == nameStart)
      }
      guard nameEnd > nameStart else { throw .malformed("a header field without a name") }
      var known = table.find(bytes, nameStart..<nameEnd, FoldedName(bytes, nameStart..<nameEnd, isPlain: isPlain))
      // A name with special characters has a kind of its own, not that of the name to which it folds.
      if !isPlain { known = known.isIrregularIfFolded ? .irregular : .disguised }
      position += 1
      // Skips blanks (spaces and tabs). `isBlank` alone would take twice as long; the faster comparison with a space
      // makes it unnecessary for most bytes.
      while bytes[position] <= .space, bytes[position].isBlank { position += 1 }
      let valueStart = position
      position = HeadIndex.endOfValue(bytes, from: valueStart)
      guard bytes[position] == .carriageReturn else { throw .malformed("a control character in a header field") }
      var valueEnd = position
      while valueEnd > valueStart, bytes[valueEnd - 1] <= .space, bytes[valueEnd - 1].isBlank {
        valueEnd -= 1
      }
      position = try HeadSyntax.skipLineEnd(bytes, position)
      presentKinds |= 1 << UInt64(known.rawValue)
      records[count] = Field(
        nameStart: UInt16(nameStart), nameEnd: UInt16(nameEnd), valueStart: UInt16(valueStart),
        valueEnd: UInt16(valueEnd), known: known)
      count &+= 1
    }
  }

  /// Returns the offset of the first byte at or after `start` that cannot occur in a token. `isPlain` is true if the
  /// name in front of that byte differs from its folded form at most in letter case.
  @inline(__always)
  private func endOfName(_ bytes: Span<UInt8>, from start: Int) -> (offset: Int, isPlain: Bool) {
    var position = start
    while position <= bytes.count &- 8 {
      let others = bytes.word(at: position).positionsOutsideFieldName
      position &+= others == 0 ? 8 : others.trailingZeroBitCount &>> 3
      if others != 0 { break }
    }
    if position < bytes.count, bytes[position] == .colon { return (position, true) }
    // The bits in which the name differs from its folded form. Bit 0x20 is the letter case.
    var difference: UInt8 = 0
    while true {
      let byte = bytes[position]
      let folded = foldedTokens[Int(byte)]
      if folded == 0 { return (position, difference & ~0x20 == 0) }
      difference |= byte ^ folded
      // The subscript has checked that `position` is within the span, so the sum cannot overflow.
      position &+= 1
    }
  }

  /// Returns the offset of the first byte at or after `start` that cannot occur in a field value.
  @inline(__always)
  private static func endOfValue(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var position = start
    while position <= bytes.count &- 8 {
      let controls = bytes.word(at: position).controlPositions
      position &+= controls == 0 ? 8 : controls.trailingZeroBitCount &>> 3
      if controls == 0 { continue }
      guard bytes[position] == .tab else { return position }
      position &+= 1
    }
    while bytes[position].isFieldText { position &+= 1 }
    return position
  }

  private static func nameError(_ byte: UInt8, isFirst: Bool) -> MessageError {
    if byte.isBlank {
      return .malformed(isFirst ? "a folded header line" : "white space before a header field's colon")
    }
    return .malformed(
      byte == .carriageReturn ? "a header line without a colon" : "an invalid character in a header field name")
  }

  /// The `Connection` options that the gateway evaluates.
  struct ConnectionOptions {
    var close = false
    var keepAlive = false
    var upgrade = false
  }

  /// Reads the `Connection` options and marks the fields that they name (RFC 9110, section 7.6.1).
  ///
  /// An option may name any field that is not in `KnownFieldTable`, and a few fields of that table. All other options
  /// are rejected. Otherwise the sender could make the gateway remove a field for framing, routing, trust or security.
  func readConnectionOptions(_ bytes: Span<UInt8>) throws(MessageError) -> ConnectionOptions {
    var options = ConnectionOptions()
    guard has(.connection) else { return options }
    // A fast path for `keep-alive`, the most common value.
    if let value = onlyValue(of: .connection), HeadIndex.isKeepAlive(bytes, value) {
      options.keepAlive = true
      return options
    }
    var optionCount = 0
    for index in 0..<count where records[index].known == .connection {
      var position = records[index].value.lowerBound
      let end = records[index].value.upperBound
      while position < end {
        let start = position
        while position < end, bytes[position] != 0x2c { position += 1 }
        let token = bytes.trimmed(start..<position)
        position += 1
        if token.isEmpty { continue }
        optionCount += 1
        guard optionCount <= HeadIndex.optionLimit else { throw .malformed("too many Connection options") }
        try apply(token, bytes, &options)
      }
    }
    return options
  }

  private func apply(
    _ token: Range<Int>, _ bytes: Span<UInt8>, _ options: inout ConnectionOptions
  ) throws(MessageError) {
    for index in token where !bytes[index].isToken { throw .malformed("an invalid Connection option") }
    let name = FoldedName(bytes, token, isPlain: false)
    if name.isClose {
      options.close = true
      return
    }
    switch table.find(bytes, token, name) {
    case .keepAlive: options.keepAlive = true
    case .upgrade: options.upgrade = true
    // These options are permitted and have no effect.
    case .te, .trailer, .proxyConnection, .http2Settings: break
    case .none, .common, .requestID, .link, .alternativeService:
      hasRemovingOption = true
      hashNames(bytes)
      let hash = hash(bytes, token)
      for index in 0..<count
      where hashes[index] == hash && !records[index].isNamedByConnection
        && HeadIndex.equalAfterFolding(bytes, records[index].name, token)
      {
        records[index].isNamedByConnection = true
      }
    default: throw .malformed("a Connection option that names a protected header field")
    }
  }

  /// True if the bytes in `range` are `keep-alive` in any letter case. Compares them as two numbers that overlap: the
  /// first eight bytes and the last eight. 0x20 is the bit by which the cases of a letter differ.
  private static func isKeepAlive(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    guard range.count == 10 else { return false }
    return bytes.word(at: range.lowerBound) | 0x2020_2000_2020_2020 == 0x696c_612d_7065_656b
      && bytes.word(at: range.lowerBound &+ 2) | 0x2020_2020_2000_2020 == 0x6576_696c_612d_7065
  }

  /// True if the bytes in `range` equal `text` in any letter case. `text` must be in lower case.
  public static func equalIgnoringCase(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: String) -> Bool {
    guard range.count == text.utf8.count else { return false }
    var position = range.lowerBound
    for byte in text.utf8 {
      if bytes[position].lowercasedASCII != byte { return false }
      position += 1
    }
    return true
  }

  /// True if the folded form (`foldedInName`) of the bytes in `range` equals `text`, which is in folded form.
  static func equalAfterFolding(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: String) -> Bool {
    guard range.count == text.utf8.count else { return false }
    var position = range.lowerBound
    for byte in text.utf8 {
      if bytes[position].foldedInName != byte { return false }
      position += 1
    }
    return true
  }

  /// True if the bytes in both ranges are equal after folding (`foldedInName`).
  private static func equalAfterFolding(_ bytes: Span<UInt8>, _ left: Range<Int>, _ right: Range<Int>) -> Bool {
    guard left.count == right.count else { return false }
    for offset in 0..<left.count
    where bytes[left.lowerBound + offset].foldedInName != bytes[right.lowerBound + offset].foldedInName { return false }
    return true
  }
}

extension HeadIndex: RandomAccessCollection {
  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of fields.
  public var endIndex: Int { count }
}
