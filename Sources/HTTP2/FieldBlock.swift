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
  private(set) var buffer: Buffer?
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
    if let buffer { buffers.wipeAndGiveBack(buffer) }
    buffer = nil
  }

  /// Appends a field with a name in lower case. What does not fit is counted and not kept.
  public func append(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>) {
    guard let buffer = room(name.count + value.count) else { return }
    let start = buffer.count
    for index in name {
      let byte = bytes[index]
      buffer.append(byte &- 0x41 < 26 ? byte | 0x20 : byte)
    }
    buffer.append(bytes, in: value)
    add(start, name.count, value.count)
  }

  /// Appends a field whose name is in lower case.
  public func append(_ name: StaticString, _ value: String) {
    guard let buffer = room(name.utf8CodeUnitCount + value.utf8.count) else { return }
    let start = buffer.count
    buffer.append(name)
    buffer.append(value)
    add(start, name.utf8CodeUnitCount, value.utf8.count)
  }

  /// Appends a field exactly as it is.
  func append(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    guard let buffer = room(name.count + value.count) else { return }
    let start = buffer.count
    buffer.append(name, in: 0..<name.count)
    buffer.append(value, in: 0..<value.count)
    add(start, name.count, value.count)
  }

  private func room(_ count: Int) -> Buffer? {
    decodedFields += 1
    decodedBytes += count
    let buffer = self.buffer ?? buffers.take()
    self.buffer = buffer
    guard !isTooLarge, count <= buffer.room else {
      isTooLarge = true
      return nil
    }
    return buffer
  }

  private func add(_ start: Int, _ name: Int, _ value: Int) {
    fields.append(
      Field(
        nameStart: Int32(start), nameEnd: Int32(start + name), valueEnd: Int32(start + name + value)))
  }
}
