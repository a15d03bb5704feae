/// A hashed timing wheel of intrusive entries: arming and moving a deadline cost a few pointer writes and no allocation.
///
/// A later deadline only changes the entry's field; the entry moves when its old slot comes due. So a keep-alive
/// connection that pushes its deadline ahead on every request touches the wheel once per slot, not once per request.
///
/// Deadlines further away than one revolution wait in a list of their own, which is searched every half revolution, or
/// when the first of it comes due: else a process whose connections only wait for a far deadline would wake up for each
/// revolution of each.
@safe final class TimerWheel {
  /// Deadlines are met up to this much late: fine enough for a connect timeout, coarse enough to batch.
  static let slotMilliseconds: UInt64 = 32
  static let slotCount = 2048
  /// Behind the slots: the list of what is far away.
  private static let far = slotCount

  /// The first entry of each slot, unowned as all links are.
  private var slots: [Unmanaged<TimerEntry>?] = unsafe Array(repeating: nil, count: slotCount + 1)
  /// None of what is far away comes due before.
  private var firstFar = UInt64.max
  private var occupied: [UInt64] = Array(repeating: 0, count: slotCount / 64)
  private var current: UInt64
  private(set) var count = 0

  init(now: UInt64) {
    current = now / TimerWheel.slotMilliseconds
  }

  func arm(_ entry: TimerEntry, at deadline: Deadline) {
    entry.deadline = deadline.milliseconds
    if deadline == .never {
      if entry.slot >= 0 { unlink(entry) }
      return
    }
    // Rounded up: a deadline is never early.
    let tick = max(deadline.milliseconds / TimerWheel.slotMilliseconds + 1, current + 1)
    if entry.slot >= 0 {
      // Already waiting in a slot that comes no later: it will move on by itself.
      if entry.tick <= tick { return }
      unlink(entry)
    }
    link(entry, tick: tick)
  }

  func disarm(_ entry: TimerEntry) {
    if entry.slot >= 0 { unlink(entry) }
  }

  private func link(_ entry: TimerEntry, tick: UInt64) {
    let isFar = tick - current >= UInt64(TimerWheel.slotCount)
    let slot = isFar ? TimerWheel.far : Int(tick % UInt64(TimerWheel.slotCount))
    if isFar { firstFar = min(firstFar, tick) }
    if entry.wheel == nil { entry.wheel = self }
    entry.tick = tick
    entry.slot = Int16(slot)
    unsafe entry.previous = nil
    unsafe entry.next = slots[slot]?._withUnsafeGuaranteedRef { $0 }
    unsafe entry.next?.previous = entry
    unsafe slots[slot] = Unmanaged.passUnretained(entry)
    if !isFar { occupied[slot / 64] |= 1 << UInt64(slot % 64) }
    count += 1
  }

  private func unlink(_ entry: TimerEntry) {
    let slot = Int(entry.slot)
    if let previous = unsafe entry.previous {
      unsafe previous.next = entry.next
    } else if let next = unsafe entry.next {
      unsafe slots[slot] = Unmanaged.passUnretained(next)
    } else {
      unsafe slots[slot] = nil
      if slot == TimerWheel.far {
        firstFar = .max
      } else {
        occupied[slot / 64] &= ~(1 << UInt64(slot % 64))
      }
    }
    unsafe entry.next?.previous = entry.previous
    unsafe entry.next = nil
    unsafe entry.previous = nil
    entry.slot = -1
    count -= 1
  }

  /// Moves time to `now` and hands every entry whose deadline has passed to `fire`, each unlinked before its turn.
  func advance(to now: UInt64, _ due: inout [TimerEntry]) {
    let target = now / TimerWheel.slotMilliseconds
    guard target > current else { return }
    // After a long sleep one round over the wheel meets every slot.
    let first = target - current > UInt64(TimerWheel.slotCount) ? target - UInt64(TimerWheel.slotCount) : current
    var tick = first + 1
    current = target
    while tick <= target {
      let slot = Int(tick % UInt64(TimerWheel.slotCount))
      if occupied[slot / 64] & (1 << UInt64(slot % 64)) != 0 { collect(slot, now, &due) }
      tick += 1
    }
    if firstFar < target + UInt64(TimerWheel.slotCount / 2) { collectFar(now, &due) }
  }

  /// Moves what is not far away any more to its slot.
  private func collectFar(_ now: UInt64, _ due: inout [TimerEntry]) {
    firstFar = .max
    var next = unsafe slots[TimerWheel.far]?.takeUnretainedValue()
    while let entry = next {
      next = unsafe entry.next
      unlink(entry)
      if entry.deadline <= now { due.append(entry) } else { arm(entry, at: Deadline(milliseconds: entry.deadline)) }
    }
  }

  private func collect(_ slot: Int, _ now: UInt64, _ due: inout [TimerEntry]) {
    var next = unsafe slots[slot]?.takeUnretainedValue()
    while let entry = next {
      next = unsafe entry.next
      if entry.deadline <= now {
        unlink(entry)
        due.append(entry)
      } else if entry.deadline / TimerWheel.slotMilliseconds + 1 != entry.tick {
        let deadline = Deadline(milliseconds: entry.deadline)
        unlink(entry)
        arm(entry, at: deadline)
      }
    }
  }

  /// Milliseconds until the next occupied slot, for `epoll_wait`; -1 when nothing is armed.
  func millisecondsToNext(from now: UInt64) -> Int32 {
    guard count > 0 else { return -1 }
    var distance = 1
    while distance <= TimerWheel.slotCount {
      let slot = Int((current + UInt64(distance)) % UInt64(TimerWheel.slotCount))
      let word = occupied[slot / 64] >> UInt64(slot % 64)
      if word != 0 {
        distance += word.trailingZeroBitCount
        return TimerWheel.milliseconds(from: now, to: min(current + UInt64(distance), firstFar))
      }
      distance += 64 - slot % 64
    }
    return firstFar == .max ? -1 : TimerWheel.milliseconds(from: now, to: firstFar)
  }

  private static func milliseconds(from now: UInt64, to tick: UInt64) -> Int32 {
    let due = tick * slotMilliseconds
    return due <= now ? 0 : Int32(clamping: due - now)
  }
}

/// An entry of a wheel: a waiting task or a parked connection.
///
/// The links are unowned, because counting references for each would cost more than the rest of arming. That is sound:
/// an entry leaves its wheel before it goes (`deinit`), and it keeps the wheel alive as long as it may be linked.
@safe open class TimerEntry {
  fileprivate(set) var deadline: UInt64 = .max
  fileprivate var tick: UInt64 = 0
  fileprivate unowned(unsafe) var next: TimerEntry?
  fileprivate unowned(unsafe) var previous: TimerEntry?
  fileprivate var wheel: TimerWheel?
  /// Small and last, so that what is small in a parked connection shares its word.
  fileprivate var slot: Int16 = -1

  public init() {
    unsafe next = nil
    unsafe previous = nil
  }

  deinit {
    wheel?.disarm(self)
  }

  /// The deadline has come; it is not armed any more.
  open func expired() {}
}
