import Glibc

/// A byte buffer in one block of fixed size, with a read position and a write position. A buffer without a block has no
/// capacity.
///
/// Blocks come from a `BufferPool`; the owner of the buffer returns the block when it no longer needs it. The owner
/// keeps the buffer object even without a block, because an optional reference would be retained and released at each
/// use. All access is bounds-checked: a write that does not fit traps before it touches memory, so callers check `room`
/// first.
@safe public final class Buffer {
  /// The maximum number of bytes of one read into a normal block. A larger size would save no system call for small
  /// messages, and would cost memory on every connection.
  public static let readSize = 16 * 1024
  /// The number of bytes at the end of a block that reads do not fill: room for the header fields that the gateway adds
  /// to a head of `readSize` bytes.
  public static let slack = 2 * 1024
  /// The size of a normal block in bytes.
  public static let capacity = readSize + slack
  /// The size in bytes of a small block, for a few pending bytes.
  static let smallCapacity = 2 * 1024
  /// The address of the block. Without a block, `limit` is 0 and this is the address of a placeholder, which no access
  /// within bounds touches.
  @usableFromInline var base: UnsafeMutableRawPointer
  /// The size of the block in bytes; 0 without a block.
  @usableFromInline var limit = 0
  /// The read position: the offset of the first readable byte in the block.
  public private(set) var start = 0
  /// The write position: the offset after the last readable byte.
  public private(set) var end: Int {
    @inlinable get { writePosition }
    set { writePosition = newValue }
  }
  @usableFromInline var writePosition = 0
  /// The highest value that `end` has had with this block; updated only when `end` decreases. No byte was written at or
  /// after the offset `max(highestEnd, end)`.
  private var highestEnd = 0

  /// Creates a buffer without a block.
  public init() {
    unsafe base = Block.none
  }

  deinit {
    if hasBlock { unsafe Block.deallocate(base, limit) }
  }

  /// True if the buffer has a block.
  public var hasBlock: Bool { limit != 0 }
  /// The size of the block in bytes, used or not; 0 without a block.
  public var blockSize: Int { limit }

  /// Gives a block of `capacity` bytes to this buffer, which must have no block.
  func attach(_ block: UnsafeMutableRawPointer, _ capacity: Int) {
    precondition(!hasBlock, "a block for a buffer that has one")
    unsafe base = block
    limit = capacity
    clear()
    highestEnd = 0
  }

  /// Removes the block and returns it. The content is lost.
  func detachBlock() -> UnsafeMutableRawPointer {
    precondition(hasBlock, "no block to give back")
    let block = unsafe base
    unsafe base = Block.none
    limit = 0
    clear()
    highestEnd = 0
    return unsafe block
  }

  /// Swaps blocks and their contents with `other`.
  public func exchangeBlocks(with other: Buffer) {
    unsafe swap(&base, &other.base)
    swap(&limit, &other.limit)
    swap(&start, &other.start)
    swap(&end, &other.end)
    swap(&highestEnd, &other.highestEnd)
  }

  /// The number of readable bytes.
  public var count: Int { end - start }
  /// True if there are no readable bytes.
  public var isEmpty: Bool { start == end }
  /// The number of bytes that can be appended.
  @inlinable public var room: Int { limit - end }
  /// The number of bytes that a receive may add. Excludes the slack, so it is 0 for a small block.
  public var receiveRoom: Int { max(0, limit - Buffer.slack - end) }

  /// Drops all readable bytes and keeps the block.
  public func clear() {
    highestEnd = max(highestEnd, end)
    start = 0
    end = 0
  }

  /// Drops all readable bytes and overwrites every byte written since the buffer received its block. Uses
  /// `explicit_bzero`, because the compiler may remove an ordinary write that no code reads.
  func wipe() {
    guard hasBlock else { return }
    clear()
    unsafe explicit_bzero(base, highestEnd)
    highestEnd = 0
  }

  /// Drops the first `count` readable bytes.
  public func consume(_ count: Int) {
    precondition(count >= 0 && count <= self.count)
    start += count
    if start == end { clear() }
  }

  /// Makes the first `count` bytes of the block readable again after they were consumed. The caller guarantees that
  /// nothing was written to the block since.
  public func rewind(to count: Int) {
    precondition(count >= 0 && count <= max(highestEnd, end), "a rewind over bytes that were never written")
    highestEnd = max(highestEnd, end)
    start = 0
    end = count
  }

  /// Moves the readable bytes to the front of the block, which maximises `room`.
  public func compact() {
    guard start > 0 else { return }
    let kept = count
    highestEnd = max(highestEnd, end)
    unsafe memmove(base, base + start, kept)
    start = 0
    end = kept
  }

  /// Calls `body` with the readable bytes.
  public func withSpan<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    let bytes = unsafe UnsafeRawBufferPointer(start: base + start, count: count)
    return try unsafe body(Span(_unsafeElements: bytes.bindMemory(to: UInt8.self)))
  }

  /// Appends one byte. Like every `append` method, it traps if there is not enough room.
  public func append(_ byte: UInt8) {
    precondition(room >= 1)
    unsafe base.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
    end += 1
  }

  /// Appends the UTF-8 bytes of a literal. Inlined, so that the length is a constant: each head has about 20 of them.
  @inlinable @inline(__always) public func append(_ text: StaticString) {
    let count = text.utf8CodeUnitCount
    precondition(room >= count)
    unsafe (base + writePosition).copyMemory(from: text.utf8Start, byteCount: count)
    writePosition += count
  }

  /// Appends `name: value` and CR LF. `name` and `value` are ranges of `bytes`.
  public func appendField(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>) {
    precondition(room >= name.count + value.count + 4)
    precondition(name.lowerBound >= 0 && name.upperBound <= bytes.count)
    precondition(value.lowerBound >= 0 && value.upperBound <= bytes.count)
    unsafe bytes.withUnsafeBufferPointer { source in
      guard let from = source.baseAddress else { return }
      let to = unsafe base + end
      unsafe to.copyMemory(from: from + name.lowerBound, byteCount: name.count)
      unsafe to.storeBytes(of: 0x3a, toByteOffset: name.count, as: UInt8.self)
      unsafe to.storeBytes(of: 0x20, toByteOffset: name.count + 1, as: UInt8.self)
      unsafe (to + name.count + 2).copyMemory(from: from + value.lowerBound, byteCount: value.count)
      let lineEnd = name.count + value.count + 2
      unsafe to.storeBytes(of: 0x0d, toByteOffset: lineEnd, as: UInt8.self)
      unsafe to.storeBytes(of: 0x0a, toByteOffset: lineEnd + 1, as: UInt8.self)
      end += lineEnd + 2
    }
  }

  /// Appends all of `bytes`.
  public func append(_ bytes: [UInt8]) {
    precondition(room >= bytes.count)
    unsafe bytes.withUnsafeBytes { source in
      if let from = source.baseAddress { unsafe (base + end).copyMemory(from: from, byteCount: source.count) }
    }
    end += bytes.count
  }

  /// Appends the bytes of `range`.
  public func append(_ bytes: [UInt8], in range: Range<Int>) {
    precondition(room >= range.count && range.lowerBound >= 0 && range.upperBound <= bytes.count)
    unsafe bytes.withUnsafeBytes { source in
      if let from = source.baseAddress {
        unsafe (base + end).copyMemory(from: from + range.lowerBound, byteCount: range.count)
      }
    }
    end += range.count
  }

  /// Appends the bytes of `range`.
  public func append(_ bytes: Span<UInt8>, in range: Range<Int>) {
    precondition(room >= range.count && range.lowerBound >= 0 && range.upperBound <= bytes.count)
    unsafe bytes.withUnsafeBufferPointer { source in
      if let from = source.baseAddress {
        unsafe (base + end).copyMemory(from: from + range.lowerBound, byteCount: range.count)
      }
    }
    end += range.count
  }

  /// Appends `first` and then `second`.
  public func append(_ first: Span<UInt8>, _ second: Span<UInt8>) {
    precondition(room - first.count >= second.count)
    let to = unsafe base + end
    unsafe first.withUnsafeBufferPointer { source in
      if let from = source.baseAddress { unsafe to.copyMemory(from: from, byteCount: source.count) }
    }
    unsafe second.withUnsafeBufferPointer { source in
      if let from = source.baseAddress { unsafe (to + first.count).copyMemory(from: from, byteCount: source.count) }
    }
    end += first.count + second.count
  }

  /// Appends the UTF-8 bytes of `text`. Disfavoured, so that literals use the `StaticString` overload, which needs no
  /// reference counting.
  @_disfavoredOverload
  public func append(_ text: String) {
    var text = text
    text.withUTF8 { source in
      precondition(room >= source.count)
      if let from = source.baseAddress { unsafe (base + end).copyMemory(from: from, byteCount: source.count) }
      end += source.count
    }
  }

  /// Appends `count` readable bytes of `other`, starting `offset` bytes after the read position of `other`.
  public func append(from other: Buffer, offset: Int, count: Int) {
    precondition(count >= 0 && offset >= 0 && offset + count <= other.count && room >= count)
    unsafe (base + end).copyMemory(from: other.base + other.start + offset, byteCount: count)
    end += count
  }

  /// Appends a non-negative number in decimal digits.
  public func append(decimal value: Int) {
    precondition(value >= 0)
    append(radix: 10, value)
  }

  /// Appends a non-negative number in lower-case hexadecimal digits.
  public func append(hexadecimal value: Int) {
    precondition(value >= 0)
    append(radix: 16, value)
  }

  // Inlined so that `radix` is a constant: a division by a constant compiles to a multiplication.
  @inline(__always)
  private func append(radix: Int, _ value: Int) {
    var digits = 1
    var rest = value
    while rest >= radix {
      rest /= radix
      digits += 1
    }
    precondition(room >= digits)
    rest = value
    var position = end + digits
    repeat {
      position -= 1
      let digit = UInt8(rest % radix)
      unsafe base.storeBytes(of: digit < 10 ? 0x30 + digit : 0x57 + digit, toByteOffset: position, as: UInt8.self)
      rest /= radix
    } while rest > 0
    end += digits
  }

  /// Returns a copy of `count` readable bytes, starting `offset` bytes after the read position.
  public func bytes(from offset: Int, count: Int) -> [UInt8] {
    precondition(count >= 0 && offset >= 0 && offset + count <= self.count)
    return unsafe Array(UnsafeRawBufferPointer(start: base + start + offset, count: count))
  }

  /// Calls `body` with the address and the size (`receiveRoom`) of the free space for a receive. `body` returns the number
  /// of bytes that it wrote, or a negative errno value; `fill` returns the same.
  package func fill(_ body: (UnsafeMutableRawPointer, Int) -> Int64) -> Int64 {
    let received = unsafe body(base + end, receiveRoom)
    if received > 0 { end += Int(received) }
    return received
  }

  /// Calls `body` with a pointer to the readable bytes, for a send.
  package func withReadable<R>(_ body: (UnsafeRawPointer) -> R) -> R {
    unsafe body(UnsafeRawPointer(base + start))
  }
}
