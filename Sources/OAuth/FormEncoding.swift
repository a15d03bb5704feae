/// The form encoding of names and values (RFC 6749, appendix B).
public enum FormEncoding {
  /// `+` is a space, `%XX` a byte, and the whole must be UTF-8; `nil` otherwise.
  static func decode(_ bytes: ArraySlice<UInt8>) -> String? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      switch bytes[index] {
      case UInt8(ascii: "+"):
        decoded.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard index + 2 < bytes.endIndex, let high = ASCII.hexValue(bytes[index + 1]),
          let low = ASCII.hexValue(bytes[index + 2])
        else { return nil }
        decoded.append(high << 4 | low)
        index += 2
      case let byte:
        decoded.append(byte)
      }
      index += 1
    }
    return String(validating: decoded, as: UTF8.self)
  }

  /// Unreserved characters stay; everything else becomes `%XX`.
  public static func encode(_ text: some StringProtocol) -> String {
    var encoded: [UInt8] = []
    encoded.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if ASCII.isUnreserved(byte) {
        encoded.append(byte)
      } else {
        encoded.append(UInt8(ascii: "%"))
        encoded.append(ASCII.upperHexDigits[Int(byte >> 4)])
        encoded.append(ASCII.upperHexDigits[Int(byte & 15)])
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// `name=value` pairs joined with ampersands.
  public static func serialise(_ entries: [FormParameters.Entry]) -> String {
    entries.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
  }
}
