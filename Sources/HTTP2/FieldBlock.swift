public import Reactor

/// The fields of one field section, with their bytes one after the other in one buffer.
///
/// The object is reused for each section, because a section is translated as soon as it is complete.
public final class FieldBlock {
  struct Field {
    let nameStart: Int32
    let nameEnd: Int32
    let valueStart: Int32
    let valueEnd: Int32

    var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
  }

  private let buffers: BufferPool
  /// Has a block while it holds fields.
  let buffer = Buffer()
  private(set) var fields: [Field] = []
  /// The number of bytes of all appended names and values, including those of dropped fields.
  public private(set) var decodedBytes = 0
  /// The number of appended fields, including dropped ones.
  private(set) var decodedFields = 0
  /// True if a field did not fit. That field and all later ones are dropped.
  public private(set) var isTooLarge = false

  /// Creates an empty block that takes its memory from `buffers`.
  public init(_ buffers: BufferPool) {
    self.buffers = buffers
  }

  /// Removes the fields and wipes their bytes: they may contain cookies and credentials.
  public func clear() {
    guard decodedFields > 0 else { return }
    fields.removeAll(keepingCapacity: true)
    decodedBytes = 0
    decodedFields = 0
    isTooLarge = false
    buffers.wipeAndGiveBack(buffer)
  }

  var isEmpty: Bool { fields.isEmpty }

  /// True if the number and bytes of the fields decoded so far are within the limits.
  func isWithin(_ limits: HTTP2Limits) -> Bool {
    decodedFields <= limits.decodedFields && decodedBytes <= limits.decodedBytes
  }

  /// Appends a field of a response; nghttp2 sends its name in lower case. A field that does not fit is counted and
  /// dropped.
  ///
  /// - Parameters:
  ///   - value: a range after `name`. The bytes between name and value belong to neither.
  ///   - suffix: text to append to the value.
  public func append(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>, suffix: StaticString = "") {
    let range = name.lowerBound..<value.upperBound
    guard countField(of: range.count + suffix.utf8CodeUnitCount) else { return }
    let start = buffer.count
    buffer.append(bytes, in: range)
    if suffix.utf8CodeUnitCount > 0 { buffer.append(suffix) }
    add(start, name.count, value: start + value.lowerBound - name.lowerBound)
  }

  /// Appends a field that the gateway itself generates.
  public func append(_ name: StaticString, _ value: [UInt8]) {
    guard countField(of: name.utf8CodeUnitCount + value.count) else { return }
    let start = buffer.count
    buffer.append(name)
    buffer.append(value)
    add(start, name.utf8CodeUnitCount)
  }

  /// Appends a field whose value is a number.
  public func append(_ name: StaticString, decimal value: Int) {
    guard countField(of: name.utf8CodeUnitCount + FieldBlock.digits) else { return }
    let start = buffer.count
    buffer.append(name)
    buffer.append(decimal: value)
    add(start, name.utf8CodeUnitCount)
  }

  /// Appends a received field unchanged.
  func append(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    guard countField(of: name.count + value.count) else { return }
    let start = buffer.count
    buffer.append(name, value)
    add(start, name.count)
  }

  /// An upper bound of the number of digits of a number.
  private static let digits = 20

  // Counts a field of `count` bytes. Returns false if it must be dropped. Inlined, as `add` is: both are a few
  // instructions and run for each field.
  @inline(__always)
  private func countField(of count: Int) -> Bool {
    decodedFields += 1
    decodedBytes += count
    if !buffer.hasBlock { buffers.fill(buffer) }
    if count > buffer.room { isTooLarge = true }
    return !isTooLarge
  }

  /// Records the field that was written at `start`. Its value directly follows the name unless `value` is given.
  @inline(__always)
  private func add(_ start: Int, _ name: Int, value: Int? = nil) {
    // All offsets are at most the size of a buffer.
    fields.append(
      Field(
        nameStart: Int32(truncatingIfNeeded: start), nameEnd: Int32(truncatingIfNeeded: start + name),
        valueStart: Int32(truncatingIfNeeded: value ?? start + name),
        valueEnd: Int32(truncatingIfNeeded: buffer.count)))
  }
}
