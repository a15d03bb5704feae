/// Receive and send buffers of one worker, last in first out so that the warmest memory is used first.
public final class BufferPool {
  private var free: [Buffer] = []
  /// Kept for reuse; above this a burst's memory goes back to the system.
  private let keep: Int
  public private(set) var inUse = 0
  /// Bytes beside the buffers that requests hold: bodies that are read whole.
  private var charged = 0
  /// Bytes that may be in use before new work is refused. This worker's share of the process's.
  public var limit = Int.max

  public init(keep: Int = 256) {
    self.keep = keep
  }

  /// Bytes in use.
  public var bytes: Int { inUse * Buffer.capacity + charged }

  /// Whether there is room for `count` bytes more.
  public func hasRoom(for count: Int) -> Bool { bytes <= limit - count }

  /// Counts bytes that are held outside of buffers, until they are `released`.
  public func charge(_ count: Int) { charged += count }

  public func release(_ count: Int) { charged -= count }

  public func take() -> Buffer {
    inUse += 1
    return free.popLast() ?? Buffer()
  }

  public func giveBack(_ buffer: Buffer) {
    inUse -= 1
    buffer.clear()
    if free.count < keep { free.append(buffer) }
  }

  /// Gives back after overwriting what was in it: for buffers that held a secret.
  public func wipeAndGiveBack(_ buffer: Buffer) {
    buffer.wipe()
    giveBack(buffer)
  }
}
