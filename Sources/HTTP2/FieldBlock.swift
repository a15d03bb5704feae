public import Reactor

/// The fields of one field section (headers or trailers). Their bytes are in one buffer.
///
/// An object is reused for the next section, because each section is processed as soon as it is complete.
public final class FieldBlock {
  struct Field {
    let nameStart: Int32
    let nameEnd: Int32
    let valueStart: Int32
    let valueEnd: Int32

    var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
  }

  private let pool: BufferPool
  /// The bytes of the fields. The buffer has memory only while there are fields.
  let buffer = Buffer()
  private(set) var fields: [Field] = []
  /// The number of bytes of all appended names and values, after HPACK decoding, including those of dropped fields.
  public private(set) var decodedBytes = 0
  /// The number of appended fields, including dropped ones.
  private(set) var decodedFields = 0
  /// True if a field did not fit into the buffer, or if `lacksMemory`. That field and all later fields are dropped.
  public private(set) var isTooLarge = false
  /// True if there was no memory for the buffer.
  private(set) var lacksMemory = false

  /// Creates an empty block that takes its memory from `buffers`.
  public init(_ buffers: BufferPool) {
    pool = buffers
  }

  /// Removes the fields and wipes their bytes: they may contain cookies and credentials.
  public func clear() {
    guard decodedFields > 0 else { return }
    fields.removeAll(keepingCapacity: true)
    decodedBytes = 0
    decodedFields = 0
    isTooLarge = false
    lacksMemory = false
    pool.wipeAndGiveBack(buffer)
  }

  var isEmpty: Bool { fields.isEmpty }

  /// Returns true if the number of the appended fields and the number of their bytes are within the limits.
  func isWithin(_ limits: HTTP2Limits) -> Bool {
    decodedFields <= limits.decodedFields && decodedBytes <= limits.decodedBytes
  }

  /// Appends a field of an HTTP/1.1 response head; nghttp2 sends its name in lower case. A field that does not fit is
  /// counted and dropped.
  ///
  /// - Parameters:
  ///   - bytes: The head.
  ///   - name: The range of the name in `bytes`.
  ///   - value: The range of the value in `bytes`, after `name`. The bytes between the two are ignored.
  ///   - suffix: Text to append to the value.
  public func append(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>, suffix: StaticString = "") {
    let range = name.lowerBound..<value.upperBound
    guard countField(of: range.count + suffix.utf8CodeUnitCount) else { return }
    let start = buffer.count
    buffer.append(bytes, in: range)
    if suffix.utf8CodeUnitCount > 0 { buffer.append(suffix) }
    recordField(
      at: start, nameLength: name.count, valueStart: start + value.lowerBound - name.lowerBound)
  }

  /// Appends a field that the gateway itself generates.
  public func append(_ name: StaticString, _ value: [UInt8]) {
    guard countField(of: name.utf8CodeUnitCount + value.count) else { return }
    let start = buffer.count
    buffer.append(name)
    buffer.append(value)
    recordField(at: start, nameLength: name.utf8CodeUnitCount)
  }

  /// Appends a field whose value is a number.
  public func append(_ name: StaticString, decimal value: Int) {
    guard countField(of: name.utf8CodeUnitCount + FieldBlock.maximumDigits) else { return }
    let start = buffer.count
    buffer.append(name)
    buffer.append(decimal: value)
    recordField(at: start, nameLength: name.utf8CodeUnitCount)
  }

  /// Appends a received field unchanged.
  func append(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    guard countField(of: name.count + value.count) else { return }
    let start = buffer.count
    buffer.append(name, value)
    recordField(at: start, nameLength: name.count)
  }

  /// An upper bound of the number of digits of an `Int` in decimal.
  private static let maximumDigits = 20

  /// Counts a field of `count` bytes, and gives the buffer memory if it has none. Returns false if the field must be
  /// dropped.
  // This function and `recordField` are inlined, because they are short and run for each field.
  @inline(__always)
  private func countField(of count: Int) -> Bool {
    decodedFields += 1
    decodedBytes += count
    // Without a block there is no room.
    if !buffer.hasBlock, !pool.ensureBlock(in: buffer) { lacksMemory = true }
    if count > buffer.room { isTooLarge = true }
    return !isTooLarge
  }

  /// Records the field whose bytes begin at `start` and end at the end of the buffer.
  ///
  /// - Parameter valueStart: The offset of the value; `nil` if the value directly follows the name.
  @inline(__always)
  private func recordField(at start: Int, nameLength: Int, valueStart: Int? = nil) {
    // All offsets fit into 32 bits, because they are at most the size of a buffer.
    fields.append(
      Field(
        nameStart: Int32(truncatingIfNeeded: start), nameEnd: Int32(truncatingIfNeeded: start + nameLength),
        valueStart: Int32(truncatingIfNeeded: valueStart ?? start + nameLength),
        valueEnd: Int32(truncatingIfNeeded: buffer.count)))
  }
}
