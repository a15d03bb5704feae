/// Receive and send buffers of one worker, last in first out so that the warmest memory is used first.
public final class BufferPool {
  private var free: [Buffer] = []
  /// Kept for reuse; above this a burst's memory goes back to the system.
  private let keep: Int
  public private(set) var inUse = 0

  public init(keep: Int = 256) {
    self.keep = keep
  }

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
