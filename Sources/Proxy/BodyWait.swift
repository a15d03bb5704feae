import Reactor

/// The wait of a request for more of its body before it takes an upstream connection. Many clients may send their
/// bodies slowly or never, so such a wait holds little memory, and an address does not get all of it.
struct BodyWait {
  /// The client address for which the memory is counted, if limits per address apply.
  fileprivate let address: UInt64?
  /// The memory that the request holds during the wait, in bytes.
  fileprivate let memory: Int
}

/// The memory of the requests that wait for more of their bodies, by client address (`ConnectionLimits.key`).
struct WaitingBodies {
  private var memory: [UInt64: Int] = [:]

  /// Once half of the limit is in use, an address that holds this part of it may not begin further waits. More than one
  /// address must be slow before others are refused.
  private static let partPerAddress = 8

  /// Returns false, without counting anything, if memory is short and the address holds too much of it.
  fileprivate mutating func add(_ wait: BodyWait, _ buffers: BufferPool) -> Bool {
    guard let address = wait.address else { return true }
    let held = memory[address, default: 0] + wait.memory
    if buffers.bytes > buffers.limit / 2, held > buffers.limit / WaitingBodies.partPerAddress { return false }
    memory[address] = held
    return true
  }

  fileprivate mutating func remove(_ wait: BodyWait) {
    guard let address = wait.address, let held = memory[address] else { return }
    memory[address] = held > wait.memory ? held - wait.memory : nil
  }
}

extension ServerConnection {
  /// Begins to wait for more of the request's body. Keeps the received bytes in as little memory as possible. Returns
  /// `nil` if the client's address holds too much memory already (429).
  ///
  /// - Parameter buffer: another buffer that the request holds.
  func beginBodyWait(holding buffer: Buffer? = nil) -> BodyWait? {
    buffers.shrink(input)
    let wait = BodyWait(address: limitedAddress, memory: input.blockSize + (buffer?.blockSize ?? 0) + charged)
    return worker.waitingBodies.add(wait, buffers) ? wait : nil
  }

  /// Ends the wait. Makes room to receive, or aborts the connection and returns false if there is no memory.
  func endBodyWait(_ wait: BodyWait) -> Bool {
    worker.waitingBodies.remove(wait)
    if buffers.restore(input) { return true }
    socket.abort()
    return false
  }
}
