import Synchronization

/// A ring of bytes of fixed size from one thread to another. Neither thread waits for the other, and neither makes a
/// system call.
///
/// `written` and `read` count bytes since the ring was created, so their difference is the number of waiting bytes, and
/// their lowest bits are offsets in the block. Only the writer changes `written`, and only the reader changes `read`.
@safe public final class ByteRing: Sendable {
  /// The size of the block, a power of two.
  public let capacity: Int
  // `nonisolated(unsafe)` is sound: the writer accesses only the bytes that are free, and the reader only those that
  // wait. The counters, which are stored with release and loaded with acquire, pass bytes from one to the other.
  private nonisolated(unsafe) let base: UnsafeMutableRawPointer
  private let written = Atomic<Int>(0)
  private let read = Atomic<Int>(0)

  /// Creates an empty ring. The kernel allocates each page of the block at its first use.
  ///
  /// - Parameter capacity: A power of two.
  public init(capacity: Int) {
    precondition(capacity > 0 && capacity & (capacity - 1) == 0, "the capacity is not a power of two")
    self.capacity = capacity
    unsafe base = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 64)
  }

  deinit { unsafe base.deallocate() }

  /// The number of waiting bytes. The stores and loads of this number by the two threads have one order, so that a
  /// writer and a sleeping reader cannot miss each other.
  public var count: Int {
    written.load(ordering: .sequentiallyConsistent) &- read.load(ordering: .acquiring)
  }

  /// Appends all bytes, or none if they do not fit. Call it only on the thread that writes. Returns the number of
  /// waiting bytes, or `nil` if the bytes do not fit.
  public func append(_ bytes: Span<UInt8>) -> Int? {
    let end = written.load(ordering: .relaxed)
    let waiting = end &- read.load(ordering: .acquiring)
    guard bytes.count <= capacity &- waiting else { return nil }
    let offset = end & (capacity &- 1)
    let first = min(bytes.count, capacity &- offset)
    unsafe bytes.withUnsafeBytes { source in
      guard let from = source.baseAddress else { return }
      unsafe (base + offset).copyMemory(from: from, byteCount: first)
      unsafe base.copyMemory(from: from + first, byteCount: source.count - first)
    }
    written.store(end &+ bytes.count, ordering: .sequentiallyConsistent)
    return waiting &+ bytes.count
  }

  /// Moves all waiting bytes to the end of `bytes`. Call it only on the thread that reads.
  public func take(into bytes: inout [UInt8]) {
    let start = read.load(ordering: .relaxed)
    let waiting = written.load(ordering: .acquiring) &- start
    guard waiting > 0 else { return }
    let offset = start & (capacity &- 1)
    let first = min(waiting, capacity &- offset)
    unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: base + offset, count: first))
    unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: base, count: waiting - first))
    read.store(start &+ waiting, ordering: .releasing)
  }
}
