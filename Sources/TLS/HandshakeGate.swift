public import Reactor

/// Lets only so many handshakes compute in one turn of a worker's loop: each takes as long as a hundred requests, and a
/// flood of them must not hold up the connections that stand.
///
/// One per worker, confined to it. Who finds no room waits in line; turns that follow let the line through.
public final class HandshakeGate: Activity {
  /// A few milliseconds of RSA, well under one of elliptic curves.
  public static let perTurn = 8

  private let poller: Poller
  private var turn: UInt64 = 0
  private var used = 0
  private var line: [Waiter] = []
  private var isLettingThrough = false
  private let waiter: Waiter

  public init(_ poller: Poller) {
    self.poller = poller
    waiter = Waiter(poller)
  }

  /// Waits until there is room.
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

  /// Lets the line through, some in each turn.
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
