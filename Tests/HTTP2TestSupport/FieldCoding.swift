import CNghttp2

/// Writes field sections with literals only (RFC 7541, section 6.2.2), with arbitrary content.
public enum FieldWriter {
  /// Encodes fields of text as a field section.
  public static func write(_ fields: [(String, String)]) -> [UInt8] {
    write(fields.map { (Array($0.0.utf8), Array($0.1.utf8)) })
  }

  /// Encodes fields of arbitrary octets as a field section, without a check of their validity.
  public static func write(_ fields: [([UInt8], [UInt8])]) -> [UInt8] {
    fields.flatMap { [0x00] + string($0.0) + string($0.1) }
  }

  private static func string(_ bytes: [UInt8]) -> [UInt8] { integer(bytes.count) + bytes }

  /// Encodes an integer with a prefix of 7 bits.
  private static func integer(_ value: Int) -> [UInt8] {
    if value < 127 { return [UInt8(value)] }
    var rest = value - 127
    var bytes: [UInt8] = [127]
    while rest >= 128 {
      bytes.append(UInt8(rest % 128 | 128))
      rest /= 128
    }
    return bytes + [UInt8(rest)]
  }
}

/// Reads the field sections of one connection in order.
@safe public final class FieldReader {
  private var inflater: OpaquePointer?

  /// Creates the decoder of one connection, with an empty dynamic table.
  public init() {
    var inflater: OpaquePointer?
    _ = unsafe nghttp2_hd_inflate_new(&inflater)
    unsafe self.inflater = inflater
  }

  deinit {
    unsafe nghttp2_hd_inflate_del(inflater)
  }

  /// Decodes one field section and updates the dynamic table. Returns an empty array if the section is malformed,
  /// and the fields so far if it is incomplete.
  public func read(_ section: [UInt8]) -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    var position = 0
    while true {
      var field = unsafe nghttp2_nv()
      var flags: Int32 = 0
      let count = unsafe section.withUnsafeBufferPointer { bytes in
        let start = unsafe bytes.baseAddress.map { unsafe $0 + position }
        return unsafe nghttp2_hd_inflate_hd2(inflater, &field, &flags, start, bytes.count - position, 1)
      }
      guard count >= 0 else { return [] }
      position += count
      if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
        let name = unsafe UnsafeBufferPointer(start: field.name, count: field.namelen)
        let value = unsafe UnsafeBufferPointer(start: field.value, count: field.valuelen)
        unsafe fields.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
      }
      if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
        _ = unsafe nghttp2_hd_inflate_end_headers(inflater)
        return fields
      }
      if count == 0 { return fields }
    }
  }
}
