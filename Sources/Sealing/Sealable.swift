internal import Cryptography

/// A value that can be written in a binary form and then sealed (encrypted and authenticated).
///
/// The form is short, because some upstreams fail on a long `state`: numbers have a variable length, and repeated
/// values are omitted. The form of each type in this module begins with a format version, by which the gateway
/// recognises values that an earlier version of the gateway has written.
public protocol Sealable {
  /// The purpose for which values of this type are sealed.
  static var purpose: Purpose { get }
  /// Appends the binary form.
  func write(to payload: inout PayloadWriter)
  /// Reads the binary form. Throws `PayloadError` if the bytes do not begin with this form. The caller checks that no
  /// bytes follow.
  init(from payload: inout PayloadReader) throws(PayloadError)
}

extension Sealer {
  /// Returns `value` sealed for the purpose of its type.
  public func seal<Value: Sealable>(_ value: Value, in binding: SealBinding? = nil) -> String {
    var writer = PayloadWriter()
    value.write(to: &writer)
    let text = seal(writer.bytes, for: Value.purpose, in: binding)
    wipe(&writer.bytes)
    return text
  }

  /// Opens (verifies and decrypts) `text` and returns the value. Throws `OpenError`; `.malformed` also means that the
  /// payload is not a value of this type. The caller must check the expiry of the value.
  public func open<Value: Sealable>(
    _ type: Value.Type, from text: String, in binding: SealBinding? = nil
  ) throws(OpenError) -> Value {
    guard Sealer.hasSealedLength(text) else { throw .malformed }
    var reader = PayloadReader(try open(text, as: Value.purpose, in: binding))
    defer { reader.wipe() }
    do {
      let value = try Value(from: &reader)
      try reader.finish()
      return value
    } catch {
      throw .malformed
    }
  }
}
