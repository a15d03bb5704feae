import Glibc
import Reactor
import Testing

struct BufferTests {
  private func taken() throws -> Buffer { try #require(BufferPool().take()) }

  private func text(_ buffer: Buffer) -> String {
    String(decoding: buffer.bytes(from: 0, count: buffer.count), as: UTF8.self)
  }

  @Test("Bytes are read as they were appended, in every form")
  func appends() throws {
    let buffer = try taken()
    buffer.append("static ")
    buffer.append(0x2d)
    buffer.append([1, 2, 0x41, 0x42], in: 2..<4)
    buffer.append([] as [UInt8])
    buffer.append([0x43, 0x44].span, in: 0..<1)
    buffer.append(decimal: 0)
    buffer.append(decimal: 1_234_567_890)
    buffer.append(hexadecimal: 255)
    buffer.append(String("é"))
    #expect(text(buffer) == "static -ABC01234567890ffé")
    let other = try taken()
    other.append(from: buffer, offset: 7, count: 4)
    #expect(text(other) == "-ABC")
  }

  @Test("A buffer that has released its block has nothing to wipe")
  func wipeWithoutBlock() throws {
    let pool = BufferPool()
    let buffer = try #require(pool.take())
    buffer.append([UInt8](repeating: 1, count: 10_000))
    pool.giveBack(buffer)
    // The address sanitizer would report a write to the block.
    pool.wipeAndGiveBack(buffer)
    #expect(!buffer.hasBlock && pool.inUse == 0)
  }

  @Test("Consuming and compacting keep the remaining bytes")
  func positions() throws {
    let buffer = try taken()
    buffer.append("0123456789")
    buffer.consume(3)
    #expect(text(buffer) == "3456789")
    #expect(buffer.room == Buffer.capacity - 10)
    buffer.compact()
    #expect(text(buffer) == "3456789")
    #expect(buffer.room == Buffer.capacity - 7)
    buffer.consume(7)
    #expect(buffer.isEmpty && buffer.room == Buffer.capacity)
  }

  @Test("A receive never uses the slack")
  func slack() throws {
    let buffer = try taken()
    #expect(buffer.receiveRoom == Buffer.readSize)
    buffer.append([UInt8](repeating: 1, count: Buffer.readSize))
    #expect(buffer.receiveRoom == 0)
    #expect(buffer.room == Buffer.slack)
    buffer.append([UInt8](repeating: 1, count: Buffer.slack))
    #expect(buffer.room == 0 && buffer.receiveRoom == 0)
  }

  @Test("The last released block is used first, and it is empty")
  func lastInFirstOut() throws {
    let pool = BufferPool(keep: 2)
    let (a, b, c) = try (#require(pool.take()), #require(pool.take()), #require(pool.take()))
    let (first, last) = (BufferTests.block(of: a), BufferTests.block(of: c))
    #expect(pool.inUse == 3)
    a.append("x")
    pool.giveBack(c)
    pool.wipeAndGiveBack(a)
    pool.giveBack(b)  // beyond the number that is kept
    pool.giveBack(b)  // has no block any more
    #expect(pool.inUse == 0)
    let again = try #require(pool.take())
    #expect(BufferTests.block(of: again) == first && again.isEmpty)
    #expect(pool.ensureBlock(in: b))
    #expect(BufferTests.block(of: b) == last)
    #expect(pool.ensureBlock(in: b))  // already has a block
    #expect(pool.inUse == 2)
  }

  @Test("Blocks begin at different offsets in their first page, and their pages are returned to the system")
  func offsets() throws {
    let (page, count) = (UInt(4_096), 32)
    let pool = BufferPool(keep: 0)
    let buffers = try (0..<count).map { _ in try #require(pool.take()) }
    let blocks = buffers.map { BufferTests.block(of: $0) }
    #expect(Set(blocks.map { $0 % page }).count > 1)
    for buffer in buffers { buffer.append([UInt8](repeating: 1, count: Buffer.capacity)) }
    for buffer in buffers { pool.giveBack(buffer) }
    // The system may already use some of the addresses for something else.
    let returned = blocks.count { block in
      var residency: UInt8 = 0
      return unsafe mincore(UnsafeMutableRawPointer(bitPattern: block / page * page), Int(page), &residency) == -1
    }
    #expect(returned > count / 2)
  }

  @Test("A shrunk buffer keeps its content in a small block, or has no block without content, until it is restored")
  func shrunk() throws {
    let pool = BufferPool()
    let (a, b, c) = try (#require(pool.take()), #require(pool.take()), #require(pool.take()))
    a.append("xabc")
    a.consume(1)
    c.append([UInt8](repeating: 1, count: Buffer.readSize))
    for buffer in [a, b, c] { pool.shrink(buffer) }
    #expect(text(a) == "abc" && a.blockSize == 2_048 && !b.hasBlock && c.count == Buffer.readSize)
    #expect(pool.inUse == 2 && pool.bytes == 2_048 + Buffer.capacity)
    for buffer in [a, b, c] { #expect(pool.restore(buffer)) }
    #expect(text(a) == "abc" && a.receiveRoom == Buffer.readSize - 3 && b.receiveRoom == Buffer.readSize)
    #expect(pool.inUse == 3 && pool.bytes == 3 * Buffer.capacity)
    for buffer in [a, b, c] { pool.giveBack(buffer) }
    #expect(pool.inUse == 0 && pool.bytes == 0)
  }

  @Test("A buffer without a block is empty and has no room")
  func withoutBlock() {
    let pool = BufferPool()
    let buffer = Buffer()
    #expect(buffer.isEmpty && buffer.room == 0 && buffer.receiveRoom == 0 && !buffer.hasBlock)
    #expect(pool.ensureBlock(in: buffer))
    #expect(buffer.hasBlock && buffer.receiveRoom == Buffer.readSize)
    buffer.append("x")
    pool.giveBack(buffer)
    #expect(buffer.isEmpty && buffer.room == 0 && !buffer.hasBlock)
  }

  @Test("A wipe removes all bytes that were ever written (I-secrets)")
  func wipe() throws {
    let pool = BufferPool()
    let buffer = try #require(pool.take())
    let block = BufferTests.block(of: buffer)
    // The bytes may have been consumed or moved before.
    buffer.append("sesame")
    buffer.consume(2)
    buffer.compact()
    pool.wipeAndGiveBack(buffer)
    let again = try #require(pool.take())
    #expect(BufferTests.block(of: again) == block)
    let left = unsafe again.withReadable { bytes in
      (0..<20).map { unsafe bytes.load(fromByteOffset: $0, as: UInt8.self) }
    }
    // The first word of a free block is the address of the next one: there is none.
    #expect(left == [UInt8](repeating: 0, count: 20))
  }

  // MARK: No memory

  /// A pool whose system refuses memory while `isRefusing` is true, with no free block and a reserve of two.
  private final class Shortage {
    let pool = BufferPool()
    var isRefusing = false

    init() {
      let allocate = unsafe pool.allocate
      unsafe pool.allocate = { unsafe self.isRefusing ? nil : allocate($0) }
      pool.reserveSize = 2
      isRefusing = true
      while let buffer = pool.take() { lost.append(buffer) }
      isRefusing = false
      #expect(pool.hasRoom(for: 1))
      isRefusing = true
    }

    /// The blocks of the reserve that the pool made at its start, which stay in use.
    private var lost: [Buffer] = []
  }

  @Test("If the system refuses memory, the reserve serves and the pool counts as full until there is memory again")
  func reserve() throws {
    let shortage = Shortage()
    let pool = shortage.pool
    var refused = 0
    pool.shortageHandler = { refused += 1 }
    #expect(pool.hasRoom(for: Buffer.capacity) && !pool.isShort)
    let (a, b) = try (#require(pool.take()), #require(pool.take()))
    #expect(pool.isShort && !pool.hasRoom(for: 1) && refused == 0)
    #expect(pool.take() == nil && refused == 1)
    let c = Buffer()
    #expect(!pool.ensureBlock(in: c) && !c.hasBlock && refused == 2)
    // A returned block is used again, but one is not a complete reserve.
    pool.giveBack(a)
    #expect(!pool.hasRoom(for: 1))
    #expect(pool.ensureBlock(in: c))
    pool.giveBack(c)
    pool.giveBack(b)
    #expect(pool.hasRoom(for: 1) && !pool.isShort)
    let taken = try [#require(pool.take()), #require(pool.take())]
    #expect(pool.isShort)
    shortage.isRefusing = false
    #expect(pool.hasRoom(for: 1) && !pool.isShort)
    for buffer in taken { pool.giveBack(buffer) }
  }

  @Test("A buffer that gets no other block keeps its block and its content")
  func noOtherBlock() throws {
    let shortage = Shortage()
    let pool = shortage.pool
    let buffer = try #require(pool.take())
    let other = try #require(pool.take())
    buffer.append("abc")
    // No small block: the content stays in the normal one.
    pool.shrink(buffer)
    #expect(text(buffer) == "abc" && buffer.blockSize == Buffer.capacity)
    #expect(!pool.enlarge(buffer, toReceive: 1 << 20) && text(buffer) == "abc")
    shortage.isRefusing = false
    pool.shrink(buffer)
    shortage.isRefusing = true
    // The normal block that `shrink` has returned is free.
    let third = try #require(pool.take())
    #expect(buffer.blockSize == 2_048 && !pool.restore(buffer) && text(buffer) == "abc")
    for isExact in [true, false] {
      #expect(!pool.makeRoom(for: 4_000, in: buffer, isExact: isExact) && text(buffer) == "abc")
      #expect(!pool.makeRoom(for: 4_000, in: Buffer(), isExact: isExact))
      #expect(!pool.makeRoom(for: 4, in: Buffer(), isExact: isExact))
    }
    // A normal block serves where a smaller one is refused.
    pool.giveBack(other)
    #expect(pool.makeRoom(for: 4, in: other, isExact: true) && other.blockSize == Buffer.capacity)
    for buffer in [buffer, other, third] { pool.giveBack(buffer) }
  }

  /// The address of the buffer's block.
  private static func block(of buffer: Buffer) -> UInt {
    unsafe buffer.withReadable { UInt(bitPattern: $0) }
  }
}
