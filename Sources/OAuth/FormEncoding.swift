internal import ByteText

/// The encoding of names and values in forms and queries (RFC 6749, appendix B).
public enum FormEncoding {
  /// Decodes `+` to a space and `%XX` to a byte; `nil` if an escape is malformed or the result is not UTF-8.
  static func decode(_ bytes: Span<UInt8>) -> String? {
    guard isEncoded(bytes) else { return String(validating: bytes) }
    guard let decoded = PercentDecoding.strict(bytes, plusIsSpace: true) else { return nil }
    return String(validating: decoded.span)
  }

  /// Returns true if all bytes are visible ASCII characters or spaces, and none is `+`, `%` or `;`.
  static func isPlain(_ bytes: Span<UInt8>) -> Bool {
    var other: UInt8 = 0
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      let isMark = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "%") || byte == UInt8(ascii: ";")
      other |= isMark || byte &- 0x20 >= 0x5f ? 1 : 0
      index &+= 1
    }
    return other == 0
  }

  /// Returns true if the bytes contain `+` or `%`.
  private static func isEncoded(_ bytes: Span<UInt8>) -> Bool {
    var found: UInt8 = 0
    var index = 0
    while index < bytes.count {
      found |= bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "%") ? 1 : 0
      index &+= 1
    }
    return found != 0
  }

  /// Percent-encodes every byte that is not an unreserved character (RFC 3986, section 2.3).
  public static func encode(_ text: String) -> String {
    var encoded: [UInt8] = []
    encoded.reserveCapacity(text.utf8.count)
    append(text, to: &encoded)
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Encodes entries as `name=value` pairs, separated by ampersands.
  ///
  /// - Parameters:
  ///   - last: An additional entry at the end.
  ///   - prefix: A text to which the pairs are appended, such as an address.
  ///   - separator: A text between the prefix and the pairs, such as a question mark.
  ///   - suffix: A text after the pairs.
  public static func serialise(
    _ entries: [FormParameters.Entry], appending last: FormParameters.Entry? = nil, to prefix: String = "",
    _ separator: String = "", suffix: String = ""
  ) -> String {
    let entries = entries.span
    var encoded: [UInt8] = []
    var size = prefix.utf8.count + separator.utf8.count + suffix.utf8.count
    if let last { size += reservedSize(of: last) }
    for index in entries.indices { size += reservedSize(of: entries[index]) }
    encoded.reserveCapacity(size)
    encoded.append(prefix)
    encoded.append(separator)
    for index in entries.indices {
      if index > 0 { encoded.append(UInt8(ascii: "&")) }
      append(entries[index], to: &encoded)
    }
    if let last {
      if !entries.isEmpty { encoded.append(UInt8(ascii: "&")) }
      append(last, to: &encoded)
    }
    encoded.append(suffix)
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Returns the room to reserve for an entry and its separators, so that the array rarely grows. Long values, such as
  /// sealed ones, need no escapes; short ones, such as redirect URIs, may.
  private static func reservedSize(of entry: borrowing FormParameters.Entry) -> Int {
    let count = entry.value.utf8.count
    return entry.name.utf8.count + 2 + (count > 128 ? count : count * lengthOfEscape)
  }

  private static func append(_ entry: borrowing FormParameters.Entry, to encoded: inout [UInt8]) {
    // The names of known parameters need no escapes, and nearly all values need none.
    guard let name = entry.parameter?.text else {
      append(entry.name, to: &encoded)
      encoded.append(UInt8(ascii: "="))
      return append(entry.value, to: &encoded)
    }
    let value = entry.value.utf8.span
    let isPlain = isUnreserved(value)
    let size = isPlain ? value.count : value.count * lengthOfEscape
    encoded.append(addingCapacity: name.utf8.count + size + 1) { output in
      output.append(name)
      output.append(UInt8(ascii: "="))
      if isPlain { output.append(copying: value) } else { escape(value, to: &output) }
    }
  }

  /// Returns true if no byte needs an escape. The condition is that of `UInt8.isUnreserved`, written so that the
  /// compiled code can test several bytes at once.
  private static func isUnreserved(_ bytes: Span<UInt8>) -> Bool {
    var other: UInt8 = 0
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      let isMark = byte == 0x2d || byte == 0x2e || byte == 0x5f || byte == 0x7e
      other |= byte.isLetterOrDigit || isMark ? 0 : 1
      index &+= 1
    }
    return other == 0
  }

  /// Appends the result of ``encode(_:)`` to `encoded`.
  static func append(_ text: String, to encoded: inout [UInt8]) {
    let bytes = text.utf8.span
    // Nearly all names and values need no escape, in particular sealed values.
    if isUnreserved(bytes) { return encoded.append(copying: bytes) }
    encoded.append(addingCapacity: bytes.count * lengthOfEscape) { escape(bytes, to: &$0) }
  }

  private static func escape(_ bytes: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
    for index in bytes.indices {
      let byte = bytes[index]
      if byte.isUnreserved {
        output.append(byte)
      } else {
        output.append(UInt8(ascii: "%"))
        output.append(UInt8(hexadecimalDigit: byte >> 4))
        output.append(UInt8(hexadecimalDigit: byte & 15))
      }
    }
  }

  /// The length of an escape.
  static let lengthOfEscape = 3

  /// Returns an upper bound of the length of a value that ``encode(_:)`` writes, from the value as a client has encoded it. An
  /// escape counts as one, also if its character needs none.
  static func sizeBound(ofEncoded bytes: Span<UInt8>) -> Int {
    var size = bytes.count
    for index in bytes.indices where !bytes[index].isUnreserved && bytes[index] != UInt8(ascii: "%") {
      size += lengthOfEscape - 1
    }
    return size
  }
}
