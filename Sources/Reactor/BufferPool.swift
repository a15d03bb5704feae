/// The blocks of one worker's receive and send buffers, last in first out, so that the warmest memory is used first.
@safe public final class BufferPool {
  private var narrow: BlockStack
  private var wide: BlockStack
  private var small: BlockStack
  /// Bytes of the blocks that were allocated in exactly the size needed.
  private var fitted = 0
  /// Bytes of requests held outside of buffers: bodies that are collected as a whole.
  private var charged = 0
  /// The number of bytes that may be in use before new work is refused: this worker's share of the process limit.
  public var limit = Int.max

  /// Creates an empty pool that keeps up to `keep` free blocks of each size with memory (`keep` / 4 wide ones).
  public init(keep: Int = 256) {
    narrow = BlockStack(Buffer.capacity, keep: keep)
    wide = BlockStack(Buffer.wideCapacity, keep: keep / 4)
    small = BlockStack(Buffer.smallCapacity, keep: keep)
  }

  deinit {
    narrow.deallocate()
    wide.deallocate()
    small.deallocate()
  }

  /// The number of blocks that buffers hold.
  public var inUse: Int { narrow.inUse + wide.inUse + small.inUse + fittedBlocks }
  private var fittedBlocks = 0

  /// The number of bytes in use: blocks that buffers hold, and charged bytes.
  public var bytes: Int {
    narrow.inUse * Buffer.capacity + wide.inUse * Buffer.wideCapacity + small.inUse * Buffer.smallCapacity + fitted
      + charged
  }

  /// True if `count` more bytes fit within `limit`.
  public func hasRoom(for count: Int) -> Bool { bytes <= limit - count }

  /// Counts `count` bytes that are held outside of buffers, until `release`.
  public func charge(_ count: Int) { charged += count }

  /// Ends the charge of `count` bytes.
  public func release(_ count: Int) { charged -= count }

  /// Returns a new buffer with a block.
  public func take() -> Buffer {
    let buffer = Buffer()
    fill(buffer)
    return buffer
  }

  /// Gives the buffer a normal block if it has no block.
  public func fill(_ buffer: Buffer) {
    guard !buffer.hasBlock else { return }
    unsafe buffer.take(narrow.pop(), Buffer.capacity)
  }

  /// Replaces the block of an empty buffer with a wide one, if the limit allows it.
  public func widen(_ buffer: Buffer) {
    guard !buffer.isWide, hasRoom(for: Buffer.wideCapacity) else { return }
    precondition(buffer.isEmpty, "a block that holds something is not exchanged")
    giveBack(buffer)
    unsafe buffer.take(wide.pop(), Buffer.wideCapacity)
  }

  /// Makes room for `count` more bytes, in a small block if they fit into one. Unlike with `fill`, the block is only
  /// for appended bytes: nothing can be received into it.
  ///
  /// - Parameter isExact: if true, bytes that need more than a small block get a block of exactly their size instead
  ///   of a normal one. Normal blocks are reused without an allocation, but are mostly larger than needed.
  public func makeRoom(for count: Int, in buffer: Buffer, isExact: Bool) {
    if buffer.room >= count { return }
    buffer.compact()
    if buffer.room >= count { return }
    let needed = buffer.count + count
    precondition(needed <= Buffer.capacity, "more than a buffer holds")
    guard buffer.hasBlock else { return fill(buffer, needed, isExact: isExact) }
    let next = Buffer()
    fill(next, needed, isExact: isExact)
    next.append(from: buffer, offset: 0, count: buffer.count)
    next.exchangeBlocks(with: buffer)
    wipeAndGiveBack(next)
  }

  private func fill(_ buffer: Buffer, _ needed: Int, isExact: Bool) {
    if needed <= Buffer.smallCapacity {
      unsafe buffer.take(small.pop(), Buffer.smallCapacity)
    } else if isExact, needed < Buffer.capacity {
      fitted += needed
      fittedBlocks += 1
      unsafe buffer.take(Buffer.Block.allocateFitted(needed), needed)
    } else {
      fill(buffer)
    }
  }

  /// Takes the block from the buffer, if it has one, and drops its content.
  public func giveBack(_ buffer: Buffer) {
    guard buffer.hasBlock else { return }
    let size = buffer.blockSize
    let block = unsafe buffer.releaseBlock()
    switch size {
    case Buffer.capacity: unsafe narrow.push(block)
    case Buffer.wideCapacity: unsafe wide.push(block)
    case Buffer.smallCapacity: unsafe small.push(block)
    default:
      fitted -= size
      fittedBlocks -= 1
      // Sound: the buffer held the only reference and has given it up.
      unsafe block.deallocate()
    }
  }

  /// Overwrites the content and takes the block: for buffers that held a secret.
  public func wipeAndGiveBack(_ buffer: Buffer) {
    buffer.wipe()
    giveBack(buffer)
  }
}

/// Blocks of one size.
@safe private struct BlockStack {
  private let capacity: Int
  /// The number of free blocks kept with their memory; the memory of more than that, after a burst, is returned to the
  /// system.
  private let keep: Int
  private var free: [UnsafeMutableRawPointer] = unsafe []
  /// Blocks left from bursts: addresses without memory. If they were freed, the allocator would see holes between
  /// smaller, longer-lived allocations; the blocks and objects of the next burst would fill these holes at other
  /// places, until all of them have memory.
  private var empty: [UnsafeMutableRawPointer] = unsafe []
  /// The number of blocks that buffers hold.
  private(set) var inUse = 0

  init(_ capacity: Int, keep: Int) {
    self.capacity = capacity
    self.keep = keep
  }

  mutating func pop() -> UnsafeMutableRawPointer {
    inUse += 1
    return unsafe free.popLast() ?? empty.popLast() ?? Buffer.Block.allocate(capacity)
  }

  mutating func push(_ block: UnsafeMutableRawPointer) {
    inUse -= 1
    if unsafe free.count < keep {
      unsafe free.append(block)
    } else {
      unsafe Buffer.Block.discard(block, capacity)
      unsafe empty.append(block)
    }
  }

  mutating func deallocate() {
    while let block = unsafe free.popLast() ?? empty.popLast() { unsafe block.deallocate() }
  }
}
