/// The code that a user reads on a device and types into a browser (RFC 8628, section 6.1).
///
/// It consists of letters of an alphabet of 20 consonants, so it spells no words, and no two letters look alike. Eight
/// letters have 34.5 bits, twelve letters 51.8 bits.
public struct UserCode: Hashable, Sendable {
  /// The number of letters of a code, while few codes are live.
  public static let usualLength = 8
  /// The number of letters of a code, while so many codes are live that a shorter one could be guessed.
  public static let extendedLength = 12
  /// The longest text that is read as a code, in bytes.
  public static let maximumTypedLength = 64
  private static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
  private static let groupLength = 4

  /// The letters, without dashes.
  public let letters: String

  /// Reads a code as a user typed it. Letters may be in lower case, and all characters that are not in the alphabet are
  /// ignored. Returns `nil` if the remaining letters are not as many as a code has, or if the text is very long.
  public init?(typed text: String) {
    guard text.utf8.count <= UserCode.maximumTypedLength else { return nil }
    let letters = text.utf8.compactMap { byte -> UInt8? in
      let isLowerCase = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      let letter = isLowerCase ? byte &- 0x20 : byte
      return UserCode.alphabet.contains(letter) ? letter : nil
    }
    guard letters.count == UserCode.usualLength || letters.count == UserCode.extendedLength else { return nil }
    self.letters = String(decoding: letters, as: UTF8.self)
  }

  /// Creates a code from random bytes. Returns `nil` if too few of them are usable: a byte above 239 is skipped, because
  /// otherwise some letters would be more frequent than others.
  public init?(length: Int, random bytes: [UInt8]) {
    let limit = UInt8(256 / UserCode.alphabet.count * UserCode.alphabet.count)
    let letters = bytes.filter { $0 < limit }.prefix(length).map {
      UserCode.alphabet[Int($0) % UserCode.alphabet.count]
    }
    guard letters.count == length else { return nil }
    self.letters = String(decoding: letters, as: UTF8.self)
  }

  /// The code as devices and pages show it, for example `WDJB-MJHT`.
  public var text: String {
    var groups: [Substring] = []
    var rest = letters[...]
    while !rest.isEmpty {
      groups.append(rest.prefix(UserCode.groupLength))
      rest = rest.dropFirst(UserCode.groupLength)
    }
    return groups.joined(separator: "-")
  }
}
