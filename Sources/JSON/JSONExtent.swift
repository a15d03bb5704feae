internal import ByteText

/// The cost of reading a JSON text.
struct JSONExtent {
  /// The length up to which each text is read: its values need less than the limits permit.
  private static let unlimitedLength = 2 * 1024
  /// The maximum memory for the values, in bytes. A token response needs little more than its length, which is that of some
  /// tokens, and metadata of 16 KiB with lists of short names need 53 KiB.
  private static let maximumMemory = 56 * 1024
  /// The maximum length of one string in bytes. The gateway holds a string several times: read, sealed and written. Servers
  /// accept header fields of 16 KiB at most, so no token that is used is longer.
  private static let maximumStringLength = 32 * 1024
  /// The maximum number of bytes of all names together that have a character outside ASCII. A dictionary normalises such a
  /// name, which costs some hundred instructions for each byte.
  private static let maximumUnicodeNameBytes = 1_024
  /// The maximum number of bytes from 0x80 up in a text that is not UTF-8. A lenient reader replaces them, which costs some
  /// hundred instructions and up to three bytes for each. Names of people in another encoding have a few.
  private static let maximumOtherBytes = 1_024

  private var memory = 0
  private var longestString = 0
  private var unicodeNameBytes = 0

  /// Returns true if the text is not too long, and its values are not too large.
  static func isWithinLimits(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count > unlimitedLength else { return true }
    guard bytes.count <= JSONReader.maximumLength else { return false }
    let extent = JSONExtent(bytes)
    return extent.memory <= maximumMemory && extent.longestString <= maximumStringLength
      && extent.unicodeNameBytes <= maximumUnicodeNameBytes && (bytes.isASCII || hasFewOtherBytes(bytes))
  }

  /// Returns true if the text is UTF-8 or has few bytes from 0x80 up.
  private static func hasFewOtherBytes(_ bytes: Span<UInt8>) -> Bool {
    var count = 0
    for index in bytes.indices where bytes[index] >= 0x80 { count += 1 }
    return count <= maximumOtherBytes || (try? UTF8Span(validating: bytes)) != nil
  }

  /// Measures the text. The amounts are those of 64-bit systems, for arrays and dictionaries that grow by doubling.
  private init(_ bytes: Span<UInt8>) {
    var lastString = 0..<0
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        lastString = index + 1..<JSONExtent.endOfString(in: bytes, from: index + 1)
        index = lastString.upperBound
        // A shorter text needs no memory of its own.
        if lastString.count > 15 { memory += 32 + lastString.count }
        longestString = max(longestString, lastString.count)
      case UInt8(ascii: ","): memory += 24
      case UInt8(ascii: "["): memory += 64
      case UInt8(ascii: "{"): memory += 352
      case UInt8(ascii: ":"):
        memory += 100
        let name = bytes.extracting(lastString)
        // An escape may be a character outside ASCII.
        if !name.isASCII || name.contains(UInt8(ascii: "\\")) { unicodeNameBytes += name.count }
      default: break
      }
      index += 1
    }
  }

  /// Returns the index of the quotation mark that ends a string, or the number of bytes if there is none.
  static func endOfString(in bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index, bytes.count)
  }
}
