public import Reactor

/// A limit on the number of handshakes for which a worker computes in one turn of its event loop. A handshake takes as
/// much time as a hundred requests, so without a limit a flood of handshakes would delay the established connections.
///
/// Each worker owns one gate, which only it uses. Handshakes beyond the limit wait in line for one of the next turns.
public final class HandshakeGate: Activity {
  /// The maximum number of handshakes per turn. Eight handshakes take a few milliseconds with RSA keys, and much less
  /// than one millisecond with elliptic-curve keys.
  public static let perTurn = 8

  private let poller: Poller
  private var turn: UInt64 = 0
  private var used = 0
  private var line: [Waiter] = []
  private var isLettingThrough = false
  private let waiter: Waiter

  /// Creates the gate of the worker that owns `poller`.
  public init(_ poller: Poller) {
    self.poller = poller
    waiter = Waiter(poller)
  }

  /// Waits until the limit permits another handshake.
  func pass(_ waiter: Waiter) async {
    if turn != poller.turn {
      turn = poller.turn
      used = 0
    }
    if used < HandshakeGate.perTurn, line.isEmpty {
      used += 1
      return
    }
    line.append(waiter)
    if !isLettingThrough {
      isLettingThrough = true
      poller.start(self)
    }
    _ = await waiter.sleep(until: .never)
  }

  /// Resumes the waiting handshakes, up to the limit in each turn, until the line is empty.
  public func run() async {
    while !line.isEmpty {
      await waiter.yield()
      turn = poller.turn
      used = min(HandshakeGate.perTurn, line.count)
      let next = line.prefix(used)
      line.removeFirst(used)
      for waiter in next { waiter.resume(.ready) }
    }
    isLettingThrough = false
  }
}
