public import Reactor

/// The fields of one section, their bytes behind each other in one buffer.
///
/// Used again for each section, because a section is translated as soon as it is whole.
public final class FieldBlock {
  struct Field {
    let nameStart: Int32
    let nameEnd: Int32
    let valueEnd: Int32

    var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    var value: Range<Int> { Int(nameEnd)..<Int(valueEnd) }
  }

  private let buffers: BufferPool
  /// Has a block while there is something in it.
  let buffer = Buffer()
  private(set) var fields: [Field] = []
  /// All that was appended, kept or not.
  private(set) var decodedBytes = 0
  private(set) var decodedFields = 0
  /// Not all of it was kept.
  public private(set) var isTooLarge = false

  public init(_ buffers: BufferPool) {
    self.buffers = buffers
  }

  /// Forgets what is in it and wipes it: fields hold cookies and credentials.
  public func clear() {
    fields.removeAll(keepingCapacity: true)
    decodedBytes = 0
    decodedFields = 0
    isTooLarge = false
    buffers.wipeAndGiveBack(buffer)
  }

  var isEmpty: Bool { fields.isEmpty }

  /// Whether what was decoded so far may be decoded at all.
  func isWithin(_ limits: HTTP2Limits) -> Bool {
    decodedFields <= limits.decodedFields && decodedBytes <= limits.decodedBytes
  }

  /// Appends a field with a name in lower case. What does not fit is counted and not kept.
  public func append(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>) {
    guard hasRoom(for: name.count + value.count) else { return }
    let start = buffer.count
    buffer.appendLowercased(bytes, in: name)
    buffer.append(bytes, in: value)
    add(start, name.count, value.count)
  }

  /// Appends a field whose name is in lower case.
  public func append(_ name: StaticString, _ value: String) {
    guard hasRoom(for: name.utf8CodeUnitCount + value.utf8.count) else { return }
    let start = buffer.count
    buffer.append(name)
    buffer.append(value)
    add(start, name.utf8CodeUnitCount, value.utf8.count)
  }

  /// Appends the pseudo-header of a response (RFC 9113, section 8.3.2); `status` has three digits.
  public func append(status: Int) {
    guard hasRoom(for: 10) else { return }
    let start = buffer.count
    buffer.append(":status")
    buffer.append(decimal: status)
    add(start, 7, buffer.count - start - 7)
  }

  /// Appends a field exactly as it is.
  func append(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    guard hasRoom(for: name.count + value.count) else { return }
    let start = buffer.count
    buffer.append(name, in: 0..<name.count)
    buffer.append(value, in: 0..<value.count)
    add(start, name.count, value.count)
  }

  private func hasRoom(for count: Int) -> Bool {
    decodedFields += 1
    decodedBytes += count
    buffers.fill(buffer)
    if count > buffer.room { isTooLarge = true }
    return !isTooLarge
  }

  private func add(_ start: Int, _ name: Int, _ value: Int) {
    fields.append(
      Field(
        nameStart: Int32(start), nameEnd: Int32(start + name), valueEnd: Int32(start + name + value)))
  }
}
