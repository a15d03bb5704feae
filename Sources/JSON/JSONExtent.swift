internal import ByteText

/// The cost of reading a JSON text.
struct JSONExtent {
  /// The length up to which each text is read: its values need less than the limits permit.
  private static let unlimitedLength = 2 * 1024
  /// The maximum memory for the values, in bytes, in addition to twice the length of the text. A token response needs less
  /// than 1 KiB, and 2,000 names of groups fit.
  private static let maximumMemory = 64 * 1024
  /// The maximum number of bytes of all names together that have a character outside ASCII. A dictionary normalises such a
  /// name, which costs some hundred instructions for each byte.
  private static let maximumUnicodeNameBytes = 1_024

  private var memory = 0
  private var unicodeNameBytes = 0

  /// Returns true if the text is not too long, and its values are not too large.
  static func isWithinLimits(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count > unlimitedLength else { return true }
    guard bytes.count <= JSONReader.maximumLength else { return false }
    let extent = JSONExtent(bytes)
    return extent.memory <= maximumMemory + 2 * bytes.count && extent.unicodeNameBytes <= maximumUnicodeNameBytes
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
