public import Reactor

/// The fields of one section, their bytes behind each other in one buffer.
///
/// Used again for each section, because a section is translated as soon as it is whole.
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
  /// Has a block while there is something in it.
  let buffer = Buffer()
  private(set) var fields: [Field] = []
  /// All that was appended, kept or not.
  public private(set) var decodedBytes = 0
  private(set) var decodedFields = 0
  /// Not all of it was kept.
  public private(set) var isTooLarge = false

  public init(_ buffers: BufferPool) {
    self.buffers = buffers
  }

  /// Forgets what is in it and wipes it: fields hold cookies and credentials.
  public func clear() {
    guard decodedFields > 0 else { return }
    fields.removeAll(keepingCapacity: true)
    decodedBytes = 0
    decodedFields = 0
    isTooLarge = false
    buffers.wipeAndGiveBack(buffer)
  }

  var isEmpty: Bool { fields.isEmpty }

  /// True if what was decoded so far may be decoded at all.
  func isWithin(_ limits: HTTP2Limits) -> Bool {
    decodedFields <= limits.decodedFields && decodedBytes <= limits.decodedBytes
  }

  /// Appends a field of a response, whose name nghttp2 writes in lower case. What does not fit is counted and not kept.
  ///
  /// - Parameters:
  ///   - value: behind `name`. What stands between them is in nobody's way.
  ///   - suffix: is added to the value.
  public func append(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>, suffix: StaticString = "") {
    let range = name.lowerBound..<value.upperBound
    guard hasRoom(for: range.count + suffix.utf8CodeUnitCount) else { return }
    let start = buffer.count
    buffer.append(bytes, in: range)
    if suffix.utf8CodeUnitCount > 0 { buffer.append(suffix) }
    add(start, name.count, value: start + value.lowerBound - name.lowerBound)
  }

  /// Appends a field of the gateway's own.
  public func append(_ name: StaticString, _ value: [UInt8]) {
    guard hasRoom(for: name.utf8CodeUnitCount + value.count) else { return }
    let start = buffer.count
    buffer.append(name)
    buffer.append(value)
    add(start, name.utf8CodeUnitCount)
  }

  /// Appends a field whose value is a number.
  public func append(_ name: StaticString, decimal value: Int) {
    guard hasRoom(for: name.utf8CodeUnitCount + FieldBlock.digits) else { return }
    let start = buffer.count
    buffer.append(name)
    buffer.append(decimal: value)
    add(start, name.utf8CodeUnitCount)
  }

  /// Appends a field exactly as it is.
  func append(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    guard hasRoom(for: name.count + value.count) else { return }
    let start = buffer.count
    buffer.append(name, value)
    add(start, name.count)
  }

  /// The most that a number has.
  private static let digits = 20

  // Both are a few instructions of each field.
  @inline(__always)
  private func hasRoom(for count: Int) -> Bool {
    decodedFields += 1
    decodedBytes += count
    if !buffer.hasBlock { buffers.fill(buffer) }
    if count > buffer.room { isTooLarge = true }
    return !isTooLarge
  }

  /// Notes the field that was written at `start`, with its value right behind the name if nothing else is said.
  @inline(__always)
  private func add(_ start: Int, _ name: Int, value: Int? = nil) {
    // All are at most a buffer's size.
    fields.append(
      Field(
        nameStart: Int32(truncatingIfNeeded: start), nameEnd: Int32(truncatingIfNeeded: start + name),
        valueStart: Int32(truncatingIfNeeded: value ?? start + name),
        valueEnd: Int32(truncatingIfNeeded: buffer.count)))
  }
}
