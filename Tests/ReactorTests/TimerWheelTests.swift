import DiceTestSupport
import Testing
import Time

@testable import Reactor

struct TimerWheelTests {
  private final class Entry: TimerEntry {}

  /// Advances in steps and records when each entry fired.
  private struct Run {
    let wheel: TimerWheel
    var now: MonotonicTime
    var fired: [ObjectIdentifier: MonotonicTime] = [:]
    var count = 0

    init(from now: MonotonicTime) {
      self.now = now
      wheel = TimerWheel(now: now)
    }

    mutating func advance(to time: MonotonicTime, step: Milliseconds = 1) {
      while now < time {
        now = min(time, now + step)
        var due: [TimerEntry] = []
        wheel.advance(to: now, &due)
        for entry in due {
          fired[ObjectIdentifier(entry)] = now
          count += 1
        }
      }
    }

    func time(of entry: Entry) -> MonotonicTime? { fired[ObjectIdentifier(entry)] }
  }

  private static let slot = Milliseconds(Int(TimerWheel.slotMilliseconds))
  private static let revolution = slot * TimerWheel.slotCount

  @Test(
    "An entry fires at its deadline, never early and at most one slot late",
    arguments: [
      1, 31, 32, 33, 1000, 65_535, 65_536, 65_537, revolution + 5, revolution * 2 - 1, revolution * 3 + 77,
    ] as [Milliseconds])
  func met(_ delay: Milliseconds) {
    for start in [0, 1, 31, 1_000_000] as [MonotonicTime] {
      var run = Run(from: start)
      let entry = Entry()
      run.wheel.arm(entry, at: start + delay)
      run.advance(to: start + delay + 64, step: delay > 1000 ? 7 : 1)
      let fired = run.time(of: entry) ?? 0
      #expect(fired >= start + delay)
      #expect(fired <= start + delay + Self.slot + 7)
      #expect(run.count == 1)
      #expect(run.wheel.count == 0)
    }
  }

  @Test("A far deadline causes no wake-up before it")
  func sleepsThrough() {
    let start: MonotonicTime = 1_000_000
    let wheel = TimerWheel(now: start)
    let entries = (0..<3).map { _ in Entry() }
    let far = TimerWheelTests.revolution * 10
    for (index, entry) in entries.enumerated() {
      wheel.arm(entry, at: start + far + Milliseconds(index * 1_000))
    }
    wheel.disarm(entries[1])
    var due: [TimerEntry] = []
    var wakes: [MonotonicTime] = []
    var now = start
    while wheel.count > 0, wakes.count < 10 {
      let wait = wheel.millisecondsToNext(from: now)
      #expect(wait > 0)
      now += Milliseconds(Int(max(1, wait)))
      wakes.append(now)
      wheel.advance(to: now, &due)
    }
    #expect(due.map { ObjectIdentifier($0) } == [entries[0], entries[2]].map { ObjectIdentifier($0) })
    #expect(wakes.count == 2)
    #expect(wakes.first ?? 0 >= start + far)
  }

  @Test("An entry with a past deadline fires at the next slot")
  func passed() {
    var run = Run(from: 100_000)
    let entry = Entry()
    run.wheel.arm(entry, at: 5)
    run.advance(to: 100_100)
    #expect(run.time(of: entry) != nil)
  }

  @Test("An entry whose deadline was moved later fires only then")
  func later() {
    var run = Run(from: 0)
    let entry = Entry()
    run.wheel.arm(entry, at: 100)
    run.advance(to: 50)
    run.wheel.arm(entry, at: 90_000)
    run.advance(to: 89_999, step: 3)
    #expect(run.count == 0)
    run.advance(to: 90_100)
    #expect(run.count == 1)
  }

  @Test("An entry whose deadline was moved earlier fires then, and only once")
  func earlier() {
    var run = Run(from: 0)
    let entry = Entry()
    run.wheel.arm(entry, at: 90_000)
    run.wheel.arm(entry, at: 100)
    run.advance(to: 200_000, step: 5)
    #expect((100...140).contains(run.time(of: entry) ?? 0))
    #expect(run.count == 1)
  }

  @Test("A disarmed entry does not fire, and neither does one without a deadline")
  func disarmed() {
    var run = Run(from: 0)
    let entry = Entry()
    run.wheel.arm(entry, at: 100)
    run.wheel.disarm(entry)
    run.wheel.disarm(entry)
    #expect(run.wheel.millisecondsToNext(from: 0) == -1)
    run.wheel.arm(entry, at: 100)
    run.wheel.arm(entry, at: .never)
    run.advance(to: 1000)
    #expect(run.count == 0)
    #expect(run.wheel.count == 0)
  }

  @Test("A long sleep misses no deadline")
  func longSleep() {
    var run = Run(from: 0)
    let entries = (0..<500).map { _ in Entry() }
    for (index, entry) in entries.enumerated() {
      run.wheel.arm(entry, at: MonotonicTime(milliseconds: UInt64(index) * 400))
    }
    run.advance(to: 300_000, step: 300_000)
    #expect(run.count == 500)
    #expect(run.wheel.count == 0)
  }

  @Test("The wait for the next slot never passes a deadline")
  func nextWait() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let wheel = TimerWheel(now: 12_345)
    var now: MonotonicTime = 12_345
    for _ in 0..<200 {
      let entry = Entry()
      let deadline = now + Milliseconds(Int.random(in: 0...100_000, using: &random))
      wheel.arm(entry, at: deadline)
      var steps = 0
      while wheel.count > 0, steps < 10 {
        let wait = wheel.millisecondsToNext(from: now)
        #expect(wait >= 0, "seed \(seed)")
        #expect(now + Milliseconds(Int(max(0, wait))) <= deadline + Self.slot, "seed \(seed)")
        now += Milliseconds(Int(max(0, wait)))
        var due: [TimerEntry] = []
        wheel.advance(to: now, &due)
        steps += 1
      }
      #expect(wheel.count == 0, "seed \(seed)")
    }
  }

  @Test("The wait leads to the first of many deadlines, however they lie on the wheel")
  func nextOfMany() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let now = MonotonicTime(milliseconds: UInt64.random(in: 0...1_000_000, using: &random))
      let wheel = TimerWheel(now: now)
      let span = Int.random(in: 1...65_000, using: &random)
      var entries: [(entry: Entry, deadline: MonotonicTime)] = []
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let (entry, deadline) = (Entry(), now + Milliseconds(Int.random(in: 0...span, using: &random)))
        wheel.arm(entry, at: deadline)
        entries.append((entry, deadline))
      }
      while !entries.isEmpty {
        let slot = TimerWheel.slotMilliseconds
        let due = entries.map { ($0.deadline.milliseconds / slot + 1) * slot }.min() ?? 0
        let wait = wheel.millisecondsToNext(from: now)
        #expect(UInt64(clamping: Int(wait)) == due - now.milliseconds, "seed \(seed)")
        wheel.disarm(entries.remove(at: Int.random(in: 0..<entries.count, using: &random)).entry)
      }
      #expect(wheel.millisecondsToNext(from: now) == -1, "seed \(seed)")
    }
  }

  @Test("Random arming, moving and disarming give the same result as a plain list")
  func model() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    var run = Run(from: 1000)
    let entries = (0..<50).map { _ in Entry() }
    var expected: [Int: MonotonicTime] = [:]
    var isSame = true
    for _ in 0..<5000 {
      let index = Int.random(in: 0..<entries.count, using: &random)
      if Bool.random(using: &random) {
        let deadline = run.now + Milliseconds(Int.random(in: 0...150_000, using: &random))
        run.wheel.arm(entries[index], at: deadline)
        expected[index] = deadline
      } else if Int.random(in: 0..<4, using: &random) == 0 {
        run.wheel.disarm(entries[index])
        expected[index] = nil
      }
      run.fired = [:]
      run.advance(to: run.now + Milliseconds(Int.random(in: 0...5000, using: &random)), step: 5000)
      for (index, entry) in entries.enumerated() {
        if let time = run.time(of: entry) {
          if (expected[index] ?? .never) > time { isSame = false }
          expected[index] = nil
        } else if let deadline = expected[index], deadline + 40 < run.now {
          isSame = false
        }
      }
    }
    #expect(isSame, "seed \(seed)")
  }
}
