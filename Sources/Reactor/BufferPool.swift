import CLinux
import Glibc

/// The memory blocks of one worker's buffers. The block that was returned last is reused first, because it is most
/// likely still in the processor's cache. The pool also counts the bytes in use, which callers compare with `limit`.
///
/// The system may refuse memory although the limit is not reached. The pool then counts as full (`hasRoom`) until it has
/// a complete reserve again, and the blocks of the reserve serve the requests in progress. If the reserve is used up too,
/// a buffer gets no block, and its owner ends the connection or request.
@safe public final class BufferPool {
  private var normal: BlockStack
  private var small: BlockStack
  /// Blocks of normal size for the time of a shortage. In an array and not in a stack of blocks, because writing the link
  /// of a stack would make a page of each block resident.
  private var reserve: [UnsafeMutableRawPointer] = unsafe []
  /// The number of blocks in a complete reserve. Tests change it.
  package var reserveSize: Int
  /// True from the time at which the system refuses memory until the reserve is complete again.
  public private(set) var isShort = false
  /// Called for each buffer that gets no block.
  public var shortageHandler: (() -> Void)?
  /// Asks the system for a block of this size; returns `nil` if there is no memory. Tests replace the function.
  package var allocate: (_ size: Int) -> UnsafeMutableRawPointer? = { unsafe Buffer.Block.allocate($0) }
  /// The number of blocks that buffers hold.
  public private(set) var inUse = 0
  /// The number of bytes in use: blocks that buffers hold, and charged bytes.
  public private(set) var bytes = 0
  /// The maximum number of bytes in use: this worker's share of the process limit. Callers check it with `hasRoom`,
  /// because the methods of the pool, except `enlarge`, allocate blocks regardless of the limit.
  public var limit = Int.max

  /// Creates a pool with a reserve; `isShort` is true if the system refuses its memory. Up to `keep` free normal blocks
  /// and `keep` free small blocks keep their memory. The memory of further free blocks, which are left after a burst, is
  /// returned to the system.
  ///
  /// - Parameter reserve: The number of blocks in the reserve. By default two for each client that is refused at the same
  ///   time, at most 64 (`ProxyWorker.refusalLimit`), or four for each of 32 requests in progress.
  public init(keep: Int = 256, reserve count: Int = 128) {
    reserveSize = count
    normal = BlockStack(Buffer.capacity, keep: keep)
    small = BlockStack(Buffer.smallCapacity, keep: keep)
    unsafe reserve.reserveCapacity(reserveSize)
    isShort = !endShortage()
  }

  deinit {
    while let block = unsafe reserve.popLast() { unsafe Buffer.Block.deallocate(block, Buffer.capacity) }
    normal.deallocate()
    small.deallocate()
  }

  /// True if `count` more bytes fit within `limit`, and the system does not refuse memory.
  public func hasRoom(for count: Int) -> Bool { bytes <= limit - count && (!isShort || endShortage()) }

  /// Completes the reserve, with free blocks first and then with memory of the system. Returns false if there is not
  /// enough.
  func endShortage() -> Bool {
    while unsafe reserve.count < reserveSize {
      guard let block = unsafe normal.pop() ?? allocate(Buffer.capacity) else { return false }
      unsafe reserve.append(block)
    }
    isShort = false
    return true
  }

  /// Counts `count` bytes that are held outside of buffers, until `release`: bodies of requests and responses that are
  /// collected as a whole.
  public func charge(_ count: Int) { bytes += count }

  /// Ends the charge of `count` bytes.
  public func release(_ count: Int) { bytes -= count }

  /// Returns a new buffer with a block; `nil` if there is no memory.
  public func take() -> Buffer? {
    let buffer = Buffer()
    return ensureBlock(in: buffer) ? buffer : nil
  }

  /// Gives the buffer a normal block if it has no block. Returns false if there is no memory; the buffer then has no
  /// block.
  public func ensureBlock(in buffer: Buffer) -> Bool {
    buffer.hasBlock || attachNormalBlock(to: buffer)
  }

  // Not inlined, so that `ensureBlock` stays small enough to be inlined.
  @inline(never)
  private func attachNormalBlock(to buffer: Buffer) -> Bool {
    guard let block = unsafe normal.pop() ?? newBlock() else { return false }
    unsafe attach(block, Buffer.capacity, to: buffer)
    return true
  }

  /// Returns a new normal block, or one of the reserve if the system refuses memory.
  private func newBlock() -> UnsafeMutableRawPointer? {
    if let block = unsafe allocate(Buffer.capacity) { return unsafe block }
    isShort = true
    if let block = unsafe reserve.popLast() { return unsafe block }
    shortageHandler?()
    return nil
  }

  private func attach(_ block: UnsafeMutableRawPointer, _ capacity: Int, to buffer: Buffer) {
    inUse += 1
    bytes += capacity
    unsafe buffer.attach(block, capacity)
  }

  /// Replaces the block of the buffer with one of exact size, into which `size` bytes can be received, and keeps the
  /// content. Returns false if there is no memory, or if more than half of `limit` would be in use: the other half is for
  /// requests that need blocks of the usual size.
  public func enlarge(_ buffer: Buffer, toReceive size: Int) -> Bool {
    let needed = max(size, buffer.count) + Buffer.slack
    // The size of a block tells to which stack it belongs, so no block of exact size may have the size of another kind.
    let capacity = needed > Buffer.capacity ? needed : Buffer.capacity + 1
    guard bytes <= limit / 2 - capacity, let block = unsafe allocate(capacity) else { return false }
    let next = Buffer()
    unsafe attach(block, capacity, to: next)
    move(buffer, to: next)
    return true
  }

  /// Keeps the content of the buffer in as little memory as possible, for a long wait: returns the block of an empty
  /// buffer, and replaces a larger block with a small one if the content fits and there is memory for it. `restore` makes
  /// room again.
  public func shrink(_ buffer: Buffer) {
    guard buffer.blockSize > Buffer.smallCapacity, buffer.count <= Buffer.smallCapacity else { return }
    if buffer.isEmpty { return wipeAndGiveBack(buffer) }
    guard let block = unsafe small.pop() ?? allocate(Buffer.smallCapacity) else { return }
    let next = Buffer()
    unsafe attach(block, Buffer.smallCapacity, to: next)
    move(buffer, to: next)
  }

  /// Gives the buffer a normal block if it has none or a smaller one, and keeps the content. Returns false if there is no
  /// memory; the buffer is then unchanged.
  public func restore(_ buffer: Buffer) -> Bool {
    if buffer.blockSize >= Buffer.capacity { return true }
    if !buffer.hasBlock { return ensureBlock(in: buffer) }
    guard let next = take() else { return false }
    move(buffer, to: next)
    return true
  }

  /// Moves the content of `buffer` to the block of `next`, which becomes the block of `buffer`.
  private func move(_ buffer: Buffer, to next: Buffer) {
    next.append(from: buffer, offset: 0, count: buffer.count)
    next.exchangeBlocks(with: buffer)
    wipeAndGiveBack(next)
  }

  /// Makes room for `append` of `count` more bytes, in a small block if the content of the buffer and these bytes fit
  /// into one. A receive leaves slack at the end of a block, so a small block, or one of exact size, may have no room
  /// for a receive (`receiveRoom`). Returns false if there is no memory; the content of the buffer is then unchanged.
  ///
  /// - Parameter isExact: if true, content that needs more than a small block gets a block of exactly its size instead
  ///   of a normal one. Normal blocks are reused without an allocation, but are mostly larger than needed.
  public func makeRoom(for count: Int, in buffer: Buffer, isExact: Bool) -> Bool {
    if buffer.room >= count { return true }
    buffer.compact()
    if buffer.room >= count { return true }
    let needed = buffer.count + count
    precondition(needed <= Buffer.capacity, "more than a buffer holds")
    guard buffer.hasBlock else { return attachBlock(to: buffer, for: needed, isExact: isExact) }
    let next = Buffer()
    guard attachBlock(to: next, for: needed, isExact: isExact) else { return false }
    move(buffer, to: next)
    return true
  }

  /// Gives the buffer a block for `needed` bytes: a normal one if the system refuses a smaller one, because only normal
  /// blocks are in the reserve.
  private func attachBlock(to buffer: Buffer, for needed: Int, isExact: Bool) -> Bool {
    var size = Buffer.capacity
    var block: UnsafeMutableRawPointer?
    if needed <= Buffer.smallCapacity {
      size = Buffer.smallCapacity
      unsafe block = small.pop() ?? allocate(size)
    } else if isExact, needed < Buffer.capacity {
      size = needed
      unsafe block = allocate(size)
    }
    guard let block = unsafe block else { return ensureBlock(in: buffer) }
    unsafe attach(block, size, to: buffer)
    return true
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

  /// Returns a free block; `nil` if there is none.
  mutating func pop() -> UnsafeMutableRawPointer? {
    guard let block = unsafe first else { return nil }
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
    ///
    /// Returns `nil` if the system refuses the memory.
    static func allocate(_ capacity: Int) -> UnsafeMutableRawPointer? {
      // Unlike Swift's own allocation, `malloc` returns if there is no memory.
      guard capacity == Buffer.capacity else { return unsafe malloc(capacity) }
      guard let pages = unsafe cl_map_pages(mappingSize) else { return nil }
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
        unsafe free(block)
      }
    }
  }
}
