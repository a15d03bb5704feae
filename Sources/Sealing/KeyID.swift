internal import Cryptography

/// The name of a sealing key: four random bytes, written as eight lower-case hexadecimal digits.
///
/// It is in clear at the front of every sealed value; four bytes keep values short and still make it unlikely that
/// two deployments have a key of the same name.
public struct KeyID: Hashable, Sendable, CustomStringConvertible {
  static let byteCount = 4

  let bytes: [UInt8]

  init(bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
  }

  /// `nil` unless `text` is eight lower-case hexadecimal digits.
  public init?(_ text: some StringProtocol) {
    guard let bytes = Hex.decode(text), bytes.count == KeyID.byteCount else { return nil }
    self.bytes = bytes
  }

  public var description: String { Hex.encode(bytes) }
}
