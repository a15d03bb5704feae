import CLinux

/// The memory blocks of one worker's buffers. The block that was returned last is reused first, because it is most
/// likely still in the processor's cache. The pool also counts the bytes in use, which callers compare with `limit`.
@safe public final class BufferPool {
  private var normal: BlockStack
  private var wide: BlockStack
  private var small: BlockStack
  /// The number of bytes in blocks in use that were allocated in exactly the requested size.
  private var fittedBytes = 0
  /// The number of bytes held outside of buffers: bodies of requests and responses that are collected as a whole.
  private var charged = 0
  /// The maximum number of bytes in use: this worker's share of the process limit. Callers check it with `hasRoom`,
  /// because the methods of the pool, except `widen`, allocate blocks regardless of the limit.
  public var limit = Int.max

  /// Creates an empty pool. Up to `keep` free normal blocks, `keep` free small blocks and `keep` / 4 free wide blocks
  /// keep their memory. The memory of further free blocks is returned to the system.
  public init(keep: Int = 256) {
    normal = BlockStack(Buffer.capacity, keep: keep)
    wide = BlockStack(Buffer.wideCapacity, keep: keep / 4)
    small = BlockStack(Buffer.smallCapacity, keep: keep)
  }

  deinit {
    normal.deallocate()
    wide.deallocate()
    small.deallocate()
  }

  /// The number of blocks that buffers hold.
  public var inUse: Int { normal.inUse + wide.inUse + small.inUse + fittedBlocks }
  /// The number of blocks in use that were allocated in exactly the requested size.
  private var fittedBlocks = 0

  /// The number of bytes in use: blocks that buffers hold, and charged bytes.
  public var bytes: Int {
    normal.inUse * Buffer.capacity + wide.inUse * Buffer.wideCapacity + small.inUse * Buffer.smallCapacity + fittedBytes
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
    ensureBlock(in: buffer)
    return buffer
  }

  /// Gives the buffer a normal block if it has no block.
  public func ensureBlock(in buffer: Buffer) {
    guard !buffer.hasBlock else { return }
    unsafe buffer.attach(normal.pop(), Buffer.capacity)
  }

  /// Replaces the block of an empty buffer, if it has one, with a wide one. Does nothing if `limit` does not allow it.
  public func widen(_ buffer: Buffer) {
    guard !buffer.isWide, hasRoom(for: Buffer.wideCapacity) else { return }
    precondition(buffer.isEmpty, "a block that holds something is not exchanged")
    giveBack(buffer)
    unsafe buffer.attach(wide.pop(), Buffer.wideCapacity)
  }

  /// Replaces the block of the buffer with one of exact size, into which `size` bytes can be received, and keeps the
  /// content. Returns false if `limit` does not allow it.
  public func enlarge(_ buffer: Buffer, toReceive size: Int) -> Bool {
    let needed = max(size, buffer.count) + Buffer.slack
    // The size of a block tells to which stack it belongs, so no block of exact size may have the size of another kind.
    let capacity = needed > Buffer.wideCapacity ? needed : Buffer.wideCapacity + 1
    guard hasRoom(for: capacity) else { return false }
    fittedBytes += capacity
    fittedBlocks += 1
    let next = Buffer()
    unsafe next.attach(Buffer.Block.allocateFitted(capacity), capacity)
    move(buffer, to: next)
    return true
  }

  /// Keeps the content of the buffer in as little memory as possible, for a long wait: returns the block of an empty
  /// buffer, and replaces a larger block with a small one if the content fits. `restore` makes room again.
  public func shrink(_ buffer: Buffer) {
    guard buffer.blockSize > Buffer.smallCapacity, buffer.count <= Buffer.smallCapacity else { return }
    if buffer.isEmpty { return wipeAndGiveBack(buffer) }
    let next = Buffer()
    unsafe next.attach(small.pop(), Buffer.smallCapacity)
    move(buffer, to: next)
  }

  /// Gives the buffer a normal block if it has none or a smaller one, and keeps the content.
  public func restore(_ buffer: Buffer) {
    if buffer.blockSize >= Buffer.capacity { return }
    if !buffer.hasBlock { return ensureBlock(in: buffer) }
    move(buffer, to: take())
  }

  /// Moves the content of `buffer` to the block of `next`, which becomes the block of `buffer`.
  private func move(_ buffer: Buffer, to next: Buffer) {
    next.append(from: buffer, offset: 0, count: buffer.count)
    next.exchangeBlocks(with: buffer)
    wipeAndGiveBack(next)
  }

  /// Makes room for `append` of `count` more bytes, in a small block if the content of the buffer and these bytes fit
  /// into one. A receive leaves slack at the end of a block, so a small block, or one of exact size, may have no room
  /// for a receive (`receiveRoom`).
  ///
  /// - Parameter isExact: if true, content that needs more than a small block gets a block of exactly its size instead
  ///   of a normal one. Normal blocks are reused without an allocation, but are mostly larger than needed.
  public func makeRoom(for count: Int, in buffer: Buffer, isExact: Bool) {
    if buffer.room >= count { return }
    buffer.compact()
    if buffer.room >= count { return }
    let needed = buffer.count + count
    precondition(needed <= Buffer.capacity, "more than a buffer holds")
    guard buffer.hasBlock else { return attachBlock(to: buffer, for: needed, isExact: isExact) }
    let next = Buffer()
    attachBlock(to: next, for: needed, isExact: isExact)
    move(buffer, to: next)
  }

  private func attachBlock(to buffer: Buffer, for needed: Int, isExact: Bool) {
    if needed <= Buffer.smallCapacity {
      unsafe buffer.attach(small.pop(), Buffer.smallCapacity)
    } else if isExact, needed < Buffer.capacity {
      fittedBytes += needed
      fittedBlocks += 1
      unsafe buffer.attach(Buffer.Block.allocateFitted(needed), needed)
    } else {
      ensureBlock(in: buffer)
    }
  }

  /// Returns the block of the buffer, if it has one, to the pool. The content is lost.
  public func giveBack(_ buffer: Buffer) {
    guard buffer.hasBlock else { return }
    let size = buffer.blockSize
    let block = unsafe buffer.detachBlock()
    switch size {
    case Buffer.capacity: unsafe normal.push(block)
    case Buffer.wideCapacity: unsafe wide.push(block)
    case Buffer.smallCapacity: unsafe small.push(block)
    default:
      fittedBytes -= size
      fittedBlocks -= 1
      // Sound: the buffer had the only reference and no longer has it.
      unsafe block.deallocate()
    }
  }

  /// Overwrites the content and returns the block to the pool. For buffers that held a secret.
  public func wipeAndGiveBack(_ buffer: Buffer) {
    buffer.wipe()
    giveBack(buffer)
  }
}

/// Blocks of one size.
@safe private struct BlockStack {
  private let capacity: Int
  /// The maximum number of free blocks that keep their memory. The memory of further free blocks, which are left after
  /// a burst, is returned to the system.
  private let retainedLimit: Int
  private var free: [UnsafeMutableRawPointer] = unsafe []
  /// Free blocks whose memory was returned to the system; only their addresses are kept. If these blocks were
  /// deallocated, the allocator would have holes between smaller, longer-lived allocations. Each later burst would fill
  /// other parts of these holes, until every part of them uses memory.
  private var withoutMemory: [UnsafeMutableRawPointer] = unsafe []
  /// The number of blocks that buffers hold.
  private(set) var inUse = 0

  init(_ capacity: Int, keep: Int) {
    self.capacity = capacity
    retainedLimit = keep
  }

  mutating func pop() -> UnsafeMutableRawPointer {
    inUse += 1
    return unsafe free.popLast() ?? withoutMemory.popLast() ?? Buffer.Block.allocate(capacity)
  }

  mutating func push(_ block: UnsafeMutableRawPointer) {
    inUse -= 1
    if unsafe free.count < retainedLimit {
      unsafe free.append(block)
    } else {
      unsafe Buffer.Block.discard(block, capacity)
      unsafe withoutMemory.append(block)
    }
  }

  mutating func deallocate() {
    while let block = unsafe free.popLast() ?? withoutMemory.popLast() { unsafe block.deallocate() }
  }
}

extension Buffer {
  /// The allocation of blocks.
  enum Block {
    // The address in a buffer without a block. Never read or written, because the bounds of such a buffer are empty.
    nonisolated(unsafe) static let none = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)

    static func allocate(_ capacity: Int) -> UnsafeMutableRawPointer {
      // Page-aligned, so that whole pages of it can be discarded.
      UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 4096)
    }

    static func allocateFitted(_ capacity: Int) -> UnsafeMutableRawPointer {
      UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    }

    /// Returns the memory of the block to the system and keeps its addresses reserved. Sound: the content of the pages
    /// is lost, but no code reads the content of a block after the block was returned to its pool.
    static func discard(_ block: UnsafeMutableRawPointer, _ capacity: Int) {
      unsafe cl_discard(block, capacity)
    }
  }
}
