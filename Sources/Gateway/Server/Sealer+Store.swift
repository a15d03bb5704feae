internal import ByteText
import Enforcement
import OAuth
import Sealing
import Stores

// Functions that decrypt sealed values, and that bind them to entries of the store.

extension Sealer {
  /// Decrypts a sealed value, which contains the id of its key. The result is `keyUnknown` if the key ring does not
  /// contain this id. The result is `invalid` if the key with this id is retired, or if the text is not a value that a
  /// gateway with this issuer sealed.
  func opened<Value: Sealable & Sendable>(_ text: String, in binding: SealBinding? = nil) -> Opened<Value> {
    do throws(OpenError) {
      return .value(try open(Value.self, from: text, in: binding))
    } catch {
      switch error {
      case .unknownKey: return .keyUnknown
      case .malformed, .retiredKey, .notAuthentic: return .invalid
      }
    }
  }
}

extension StoreKey {
  /// Returns the data that binds a sealed value to this store entry. A value that is copied from another entry, or from
  /// an earlier epoch of the store, cannot be decrypted with this data.
  ///
  /// - Parameters:
  ///   - data: Further data to which the value is bound. It must have the same length for all entries of a kind.
  ///   - secret: A text that is also needed to decrypt the value, for example the refresh token that the client
  ///     presents.
  func binding(_ store: any EphemeralStore, data: [UInt8] = [], secret: Secret? = nil) -> SealBinding {
    let epoch = store.epoch.rawValue
    let entry = [kind.rawValue] + bytes + (0..<8).map { UInt8(truncatingIfNeeded: epoch >> (8 * $0)) }
    return SealBinding(data: entry + data, secret: secret)
  }
}

extension String {
  /// The bytes of a sealed value, decoded from its base64url text. The store keeps the bytes, because the text is a
  /// third longer.
  var storedBytes: [UInt8] { Base64URL.decode(self) ?? [] }

  /// Creates the text of a sealed value from its `storedBytes`.
  init(stored bytes: [UInt8]) {
    self = Base64URL.encode(bytes)
  }
}
