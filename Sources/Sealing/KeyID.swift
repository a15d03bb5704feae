internal import ByteText

/// The id of a sealing key: four random bytes, written as eight lower-case hexadecimal digits.
///
/// Every sealed value contains the id of its key, unencrypted. Four bytes keep the values short and still make it
/// unlikely that two deployments have a key with the same id.
public struct KeyID: Hashable, Sendable, CustomStringConvertible {
  static let byteCount = 4

  let bytes: [UInt8]

  init(bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
  }

  /// Parses an id. The result is `nil` if `text` is not eight lower-case hexadecimal digits.
  public init?(_ text: some StringProtocol) {
    guard let bytes = Hex.decode(text), bytes.count == KeyID.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Eight lower-case hexadecimal digits.
  public var description: String { Hex.encode(bytes) }
}
