public import Reactor

/// A limit on the number of handshake steps in one turn of a worker's event loop. A step is the part of a handshake up
/// to the next wait for the peer. A handshake takes as much time as a hundred requests, so without a limit a flood of
/// handshakes would delay the established connections.
///
/// Each worker has its own gate. Steps beyond the limit wait in a queue for one of the next turns.
public final class HandshakeGate: Activity {
  /// The maximum number of handshake steps per turn. Eight handshakes take a few milliseconds with RSA keys, and much
  /// less than one millisecond with elliptic-curve keys.
  public static let stepsPerTurn = 8

  private let poller: Poller
  /// The number of the turn to which `stepsInTurn` refers.
  private var turn: UInt64 = 0
  private var stepsInTurn = 0
  /// The waiters of the handshakes that exceed the limit, in order of arrival.
  private var queue: [Waiter] = []
  /// True while `run` is active.
  private var isRunning = false
  /// Suspends `run` until the next turn.
  private let nextTurnWaiter: Waiter

  /// Creates the gate of the worker that owns `poller`.
  public init(_ poller: Poller) {
    self.poller = poller
    nextTurnWaiter = Waiter(poller)
  }

  /// Waits until the limit permits another handshake step.
  ///
  /// - Parameter waiter: the waiter of the handshake, which suspends its task.
  func waitForStep(_ waiter: Waiter) async {
    if turn != poller.turn {
      turn = poller.turn
      stepsInTurn = 0
    }
    if stepsInTurn < HandshakeGate.stepsPerTurn, queue.isEmpty {
      stepsInTurn += 1
      return
    }
    queue.append(waiter)
    if !isRunning {
      isRunning = true
      poller.start(self)
    }
    _ = await waiter.sleep(until: .never)
  }

  /// Resumes the handshakes in the queue, at most `stepsPerTurn` in each turn, until the queue is empty.
  public func run() async {
    while !queue.isEmpty {
      await nextTurnWaiter.yield()
      turn = poller.turn
      stepsInTurn = min(HandshakeGate.stepsPerTurn, queue.count)
      let resumed = queue.prefix(stepsInTurn)
      queue.removeFirst(stepsInTurn)
      for waiter in resumed { waiter.resume(.ready) }
    }
    isRunning = false
  }
}
