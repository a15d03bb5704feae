import CLinux

/// The memory blocks of one worker's buffers. The block that was returned last is reused first, because it is most
/// likely still in the processor's cache. The pool also counts the bytes in use, which callers compare with `limit`.
@safe public final class BufferPool {
  private var normal: BlockStack
  private var small: BlockStack
  /// The number of blocks that buffers hold.
  public private(set) var inUse = 0
  /// The number of bytes in use: blocks that buffers hold, and charged bytes.
  public private(set) var bytes = 0
  /// The maximum number of bytes in use: this worker's share of the process limit. Callers check it with `hasRoom`,
  /// because the methods of the pool, except `enlarge`, allocate blocks regardless of the limit.
  public var limit = Int.max

  /// Creates an empty pool. Up to `keep` free normal blocks and `keep` free small blocks keep their memory. The memory
  /// of further free blocks, which are left after a burst, is returned to the system.
  public init(keep: Int = 256) {
    normal = BlockStack(Buffer.capacity, keep: keep)
    small = BlockStack(Buffer.smallCapacity, keep: keep)
  }

  deinit {
    normal.deallocate()
    small.deallocate()
  }

  /// True if `count` more bytes fit within `limit`.
  public func hasRoom(for count: Int) -> Bool { bytes <= limit - count }

  /// Counts `count` bytes that are held outside of buffers, until `release`: bodies of requests and responses that are
  /// collected as a whole.
  public func charge(_ count: Int) { bytes += count }

  /// Ends the charge of `count` bytes.
  public func release(_ count: Int) { bytes -= count }

  /// Returns a new buffer with a block.
  public func take() -> Buffer {
    let buffer = Buffer()
    ensureBlock(in: buffer)
    return buffer
  }

  /// Gives the buffer a normal block if it has no block.
  public func ensureBlock(in buffer: Buffer) {
    guard !buffer.hasBlock else { return }
    unsafe attach(normal.pop(), Buffer.capacity, to: buffer)
  }

  private func attach(_ block: UnsafeMutableRawPointer, _ capacity: Int, to buffer: Buffer) {
    inUse += 1
    bytes += capacity
    unsafe buffer.attach(block, capacity)
  }

  /// Replaces the block of the buffer with one of exact size, into which `size` bytes can be received, and keeps the
  /// content. Returns false if more than half of `limit` would be in use: the other half is for requests that need
  /// blocks of the usual size.
  public func enlarge(_ buffer: Buffer, toReceive size: Int) -> Bool {
    let needed = max(size, buffer.count) + Buffer.slack
    // The size of a block tells to which stack it belongs, so no block of exact size may have the size of another kind.
    let capacity = needed > Buffer.capacity ? needed : Buffer.capacity + 1
    guard bytes <= limit / 2 - capacity else { return false }
    let next = Buffer()
    unsafe attach(Buffer.Block.allocateFitted(capacity), capacity, to: next)
    move(buffer, to: next)
    return true
  }

  /// Keeps the content of the buffer in as little memory as possible, for a long wait: returns the block of an empty
  /// buffer, and replaces a larger block with a small one if the content fits. `restore` makes room again.
  public func shrink(_ buffer: Buffer) {
    guard buffer.blockSize > Buffer.smallCapacity, buffer.count <= Buffer.smallCapacity else { return }
    if buffer.isEmpty { return wipeAndGiveBack(buffer) }
    let next = Buffer()
    unsafe attach(small.pop(), Buffer.smallCapacity, to: next)
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
      unsafe attach(small.pop(), Buffer.smallCapacity, to: buffer)
    } else if isExact, needed < Buffer.capacity {
      unsafe attach(Buffer.Block.allocateFitted(needed), needed, to: buffer)
    } else {
      ensureBlock(in: buffer)
    }
  }

  /// Returns the block of the buffer, if it has one, to the pool. The content is lost.
  public func giveBack(_ buffer: Buffer) {
    guard buffer.hasBlock else { return }
    let size = buffer.blockSize
    let block = unsafe buffer.detachBlock()
    inUse -= 1
    bytes -= size
    switch size {
    case Buffer.capacity: unsafe normal.push(block)
    case Buffer.smallCapacity: unsafe small.push(block)
    // Sound: the buffer had the only reference and no longer has it.
    default: unsafe Buffer.Block.deallocate(block, size)
    }
  }

  /// Overwrites the content and returns the block to the pool. For buffers that held a secret.
  public func wipeAndGiveBack(_ buffer: Buffer) {
    buffer.wipe()
    giveBack(buffer)
  }
}

/// The free blocks of one size.
@safe private struct BlockStack {
  private let capacity: Int
  /// The maximum number of free blocks.
  private let limit: Int
  /// The free block that was returned last; `nil` without one. The first word of a free block is the address of the next
  /// one.
  private var first: UnsafeMutableRawPointer?
  private var count = 0

  init(_ capacity: Int, keep: Int) {
    self.capacity = capacity
    limit = keep
    unsafe first = nil
  }

  mutating func pop() -> UnsafeMutableRawPointer {
    guard let block = unsafe first else { return unsafe Buffer.Block.allocate(capacity) }
    // Sound: `push` wrote the address, and nothing else uses a free block.
    unsafe first = block.load(as: UnsafeMutableRawPointer?.self)
    count -= 1
    return unsafe block
  }

  mutating func push(_ block: UnsafeMutableRawPointer) {
    guard count < limit else { return unsafe Buffer.Block.deallocate(block, capacity) }
    unsafe block.storeBytes(of: first, as: UnsafeMutableRawPointer?.self)
    unsafe first = block
    count += 1
  }

  mutating func deallocate() {
    while let block = unsafe first {
      unsafe first = block.load(as: UnsafeMutableRawPointer?.self)
      unsafe Buffer.Block.deallocate(block, capacity)
    }
  }
}

extension Buffer {
  /// The allocation of blocks.
  enum Block {
    /// The address in a buffer without a block. Never read or written, because the bounds of such a buffer are empty. Not
    /// nil, because the number is not zero.
    static var none: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(bitPattern: 16).unsafelyUnwrapped }

    private static let pageSize = 4096
    /// The size of a line of the processor's cache in bytes.
    private static let cacheLine = 64
    /// The number of different offsets at which normal blocks begin in their first page.
    private static let offsets = 32

    /// Normal blocks are pages of the system. If the allocator had them, they would leave holes between smaller,
    /// longer-lived allocations after each burst, and each later burst would make other parts of these holes resident.
    ///
    /// Blocks begin at different offsets in their first page. The first-level cache of a processor has only a few places
    /// for lines with the same offset, and the first lines of a block are those that every message uses. A block into
    /// which 16 KiB are received therefore occupies five pages instead of four.
    static func allocate(_ capacity: Int) -> UnsafeMutableRawPointer {
      guard capacity == Buffer.capacity else { return unsafe allocateFitted(capacity) }
      // `BufferPool.limit` bounds the number of blocks, so only a system that has no memory left, or permits the process
      // less than the limit, refuses one. As with every other allocation, the process then ends. `fatalError` tells
      // the reason in a release build too, and keeps `ensureBlock` small enough to be inlined, unlike a precondition.
      guard let pages = unsafe cl_map_pages(mappingSize) else { fatalError("no memory for a buffer") }
      let number = Int(bitPattern: pages) / pageSize
      return unsafe pages + number % offsets * cacheLine
    }

    /// The number of bytes to map for a normal block: five pages of 4 KiB, which the block alone would need, too.
    private static var mappingSize: Int { Buffer.capacity + offsets * cacheLine }

    static func deallocate(_ block: UnsafeMutableRawPointer, _ capacity: Int) {
      // Sound: only `allocate` makes blocks of this size, and it places them into the first page of their mapping.
      if capacity == Buffer.capacity {
        let offset = Int(bitPattern: block) % pageSize
        unsafe cl_unmap_pages(block - offset, mappingSize)
      } else {
        unsafe block.deallocate()
      }
    }

    static func allocateFitted(_ capacity: Int) -> UnsafeMutableRawPointer {
      UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    }
  }
}
