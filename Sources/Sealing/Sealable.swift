internal import Cryptography

/// A value that has a binary form inside a sealed envelope.
///
/// The form is short, because some upstreams break on a long `state`: lengths and numbers are variable-length, what
/// repeats is left out. It begins with a layout number, so that a later version can tell its own form from this one.
public protocol Sealable {
  static var purpose: Purpose { get }
  func write(to payload: inout PayloadWriter)
  init(from payload: inout PayloadReader) throws(PayloadError)
}

extension Sealer {
  /// `value` sealed for its type's purpose.
  public func seal<Value: Sealable>(_ value: Value, in binding: SealBinding? = nil) -> String {
    var writer = PayloadWriter()
    value.write(to: &writer)
    let text = seal(writer.bytes, for: Value.purpose, in: binding)
    wipe(&writer.bytes)
    return text
  }

  /// The value that `text` was sealed from. Its expiry is the caller's to check.
  public func open<Value: Sealable>(
    _ type: Value.Type, from text: String, in binding: SealBinding? = nil
  ) throws(OpenError) -> Value {
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
