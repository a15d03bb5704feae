/// The blocks of one worker's receive and send buffers, last in first out so that the warmest memory is used first.
@safe public final class BufferPool {
  private var narrow: BlockStack
  private var wide: BlockStack
  private var small: BlockStack
  /// Bytes of blocks that were made for what is in them.
  private var fitted = 0
  /// Bytes of requests that are not in buffers: bodies that are read whole.
  private var charged = 0
  /// Bytes that may be in use before new work is refused. This worker's share of the process's.
  public var limit = Int.max

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

  /// Blocks that buffers have.
  public var inUse: Int { narrow.inUse + wide.inUse + small.inUse + fittedBlocks }
  private var fittedBlocks = 0

  /// Bytes in use.
  public var bytes: Int {
    narrow.inUse * Buffer.capacity + wide.inUse * Buffer.wideCapacity + small.inUse * Buffer.smallCapacity + fitted
      + charged
  }

  /// True if there is room for `count` bytes more.
  public func hasRoom(for count: Int) -> Bool { bytes <= limit - count }

  /// Counts bytes that are held outside of buffers, until they are `released`.
  public func charge(_ count: Int) { charged += count }

  public func release(_ count: Int) { charged -= count }

  /// A buffer with a block.
  public func take() -> Buffer {
    let buffer = Buffer()
    fill(buffer)
    return buffer
  }

  /// Gives the buffer a block if it has none.
  public func fill(_ buffer: Buffer) {
    guard !buffer.hasBlock else { return }
    unsafe buffer.take(narrow.pop(), Buffer.capacity)
  }

  /// Gives the empty buffer a wide block in place of what it has, if there is room for that.
  public func widen(_ buffer: Buffer) {
    guard !buffer.isWide, hasRoom(for: Buffer.wideCapacity) else { return }
    precondition(buffer.isEmpty, "a block that holds something is not exchanged")
    giveBack(buffer)
    unsafe buffer.take(wide.pop(), Buffer.wideCapacity)
  }

  /// Makes room for `count` bytes more, in a block of its own size for few bytes. Unlike that of `fill`, the block is only
  /// for what is appended: nothing can be received into it.
  ///
  /// - Parameter isExact: whether more bytes get a block of just their size instead of a common one. Common blocks are
  ///   taken and given back without an allocation, and mostly hold less than they could.
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

  /// Takes the buffer's block, if it has one, with what is in it.
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
      // Sound: the buffer had the only reference, and has none any more.
      unsafe block.deallocate()
    }
  }

  /// Gives back after overwriting what was in it: for buffers that held a secret.
  public func wipeAndGiveBack(_ buffer: Buffer) {
    buffer.wipe()
    giveBack(buffer)
  }
}

/// Blocks of one size.
@safe private struct BlockStack {
  private let capacity: Int
  /// So many are kept for reuse; above this a burst's memory goes back to the system.
  private let keep: Int
  private var free: [UnsafeMutableRawPointer] = unsafe []
  /// The blocks of bursts: addresses without memory. To the allocator they would be holes between what is smaller and stays,
  /// which the next burst's blocks and objects fill again at other places, until all of them have memory.
  private var empty: [UnsafeMutableRawPointer] = unsafe []
  /// Blocks that buffers have.
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
