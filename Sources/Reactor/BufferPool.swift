/// The blocks of one worker's receive and send buffers, last in first out so that the warmest memory is used first.
@safe public final class BufferPool {
  private var free: [UnsafeMutableRawPointer] = unsafe []
  /// Kept for reuse; above this a burst's memory goes back to the system.
  private let keep: Int
  /// The blocks of bursts: addresses without memory. To the allocator they would be holes between what is smaller and stays,
  /// which the next burst's blocks and objects fill anew at other places, until all of them have memory.
  private var empty: [UnsafeMutableRawPointer] = unsafe []
  /// Blocks that buffers have.
  public private(set) var inUse = 0
  /// Bytes beside the buffers that requests hold: bodies that are read whole.
  private var charged = 0
  /// Bytes that may be in use before new work is refused. This worker's share of the process's.
  public var limit = Int.max

  public init(keep: Int = 256) {
    self.keep = keep
  }

  deinit {
    while let block = unsafe free.popLast() ?? empty.popLast() { unsafe block.deallocate() }
  }

  /// Bytes in use.
  public var bytes: Int { inUse * Buffer.capacity + charged }

  /// Whether there is room for `count` bytes more.
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
    inUse += 1
    unsafe buffer.take(free.popLast() ?? empty.popLast() ?? Buffer.Block.allocate())
  }

  /// Takes the buffer's block, if it has one, with what is in it.
  public func giveBack(_ buffer: Buffer) {
    guard buffer.hasBlock else { return }
    inUse -= 1
    let block = unsafe buffer.releaseBlock()
    if unsafe free.count < keep {
      unsafe free.append(block)
    } else {
      unsafe Buffer.Block.discard(block)
      unsafe empty.append(block)
    }
  }

  /// Gives back after overwriting what was in it: for buffers that held a secret.
  public func wipeAndGiveBack(_ buffer: Buffer) {
    buffer.wipe()
    giveBack(buffer)
  }
}
