import Time

/// A hashed timing wheel of intrusive entries: arming and moving a deadline costs a few pointer writes and no
/// allocation.
///
/// If a deadline is moved to a later time, only a field of the entry changes; the entry moves when its old slot comes
/// due. So a keep-alive connection that extends its deadline on every request is moved once per timeout, not once per
/// request.
///
/// Deadlines more than one revolution away are in a separate list. The list is searched when its earliest deadline is
/// less than half a revolution away. Without the list, a process whose connections only wait for distant deadlines
/// would wake up once per revolution for each of them.
@safe final class TimerWheel {
  /// The duration of a slot. An entry expires up to this time too late. The duration is short enough for a connect
  /// timeout, and long enough to handle several deadlines in one wake-up.
  static let slotMilliseconds: UInt64 = 32
  static let slotCount = 2048
  /// The number of slots, in ticks.
  private static let revolution: UInt64 = 2048
  /// The index of the list of distant entries, after the slots.
  private static let distantSlot = slotCount

  /// The first entry of each slot and, at the end, of the list of distant entries. Unretained, as all links are.
  private var slots: [Unmanaged<TimerEntry>?] = unsafe Array(repeating: nil, count: slotCount + 1)
  /// A lower bound of the ticks of all distant entries; `.max` without entries.
  private var earliestDistantTick = UInt64.max
  /// One bit for each slot, set if the slot has entries.
  private var occupied: [UInt64] = Array(repeating: 0, count: slotCount / 64)
  /// One bit for each element of `occupied`, set if the element is not 0, so that a search costs the same wherever the
  /// next deadline is.
  private var occupiedWords: UInt32 = 0
  /// The last tick that was processed. A tick is a time in units of `slotMilliseconds`.
  private var currentTick: UInt64
  private(set) var count = 0

  init(now: MonotonicTime) {
    currentTick = now.milliseconds / TimerWheel.slotMilliseconds
  }

  private static func slot(of tick: UInt64) -> Int { Int(truncatingIfNeeded: tick % revolution) }

  func arm(_ entry: TimerEntry, at deadline: Deadline) {
    entry.deadline = deadline
    if deadline == .never {
      if entry.slot >= 0 { unlink(entry) }
      return
    }
    // Rounded up: an entry never expires early.
    let tick = max(deadline.milliseconds / TimerWheel.slotMilliseconds + 1, currentTick + 1)
    if entry.slot >= 0 {
      // The entry is in a slot that comes due no later than the new deadline. It moves when that slot comes due.
      if entry.tick <= tick { return }
      unlink(entry)
    }
    link(entry, tick: tick)
  }

  func disarm(_ entry: TimerEntry) {
    if entry.slot >= 0 { unlink(entry) }
  }

  private func link(_ entry: TimerEntry, tick: UInt64) {
    let isDistant = tick.saturatingDifference(currentTick) >= TimerWheel.revolution
    let slot = isDistant ? TimerWheel.distantSlot : TimerWheel.slot(of: tick)
    if isDistant { earliestDistantTick = min(earliestDistantTick, tick) }
    if entry.wheel == nil { entry.wheel = self }
    entry.tick = tick
    entry.slot = Int16(slot)
    unsafe entry.previous = nil
    unsafe entry.next = slots[slot]?._withUnsafeGuaranteedRef { $0 }
    unsafe entry.next?.previous = entry
    unsafe slots[slot] = Unmanaged.passUnretained(entry)
    if !isDistant {
      occupied[slot / 64] |= 1 << (slot % 64)
      occupiedWords |= 1 << (slot / 64)
    }
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
      if slot == TimerWheel.distantSlot {
        earliestDistantTick = .max
      } else {
        occupied[slot / 64] &= ~(1 << (slot % 64))
        if occupied[slot / 64] == 0 { occupiedWords &= ~(1 << (slot / 64)) }
      }
    }
    unsafe entry.next?.previous = entry.previous
    unsafe entry.next = nil
    unsafe entry.previous = nil
    entry.slot = -1
    count -= 1
  }

  /// Advances time to `now` and appends every entry whose deadline has passed to `due`; each is unlinked first.
  func advance(to now: MonotonicTime, _ due: inout [TimerEntry]) {
    let target = now.milliseconds / TimerWheel.slotMilliseconds
    guard target > currentTick else { return }
    // After a long sleep, one revolution is enough to visit every slot.
    let first = max(currentTick, target.saturatingDifference(TimerWheel.revolution))
    var tick = first + 1
    currentTick = target
    while tick <= target {
      let slot = TimerWheel.slot(of: tick)
      if occupied[slot / 64] & (1 << (slot % 64)) != 0 { collect(slot, now, &due) }
      tick += 1
    }
    if earliestDistantTick < target + TimerWheel.revolution / 2 { collectDistant(now, &due) }
  }

  /// Moves distant entries that are less than one revolution away to their slots, and those whose deadline has passed
  /// to `due`.
  private func collectDistant(_ now: MonotonicTime, _ due: inout [TimerEntry]) {
    earliestDistantTick = .max
    var next = unsafe slots[TimerWheel.distantSlot]?.takeUnretainedValue()
    while let entry = next {
      next = unsafe entry.next
      unlink(entry)
      if entry.deadline <= now { due.append(entry) } else { arm(entry, at: entry.deadline) }
    }
  }

  /// Handles each entry of the slot: moves the entry to `due` if its deadline has passed, or to another slot if its
  /// deadline was moved to a later time.
  private func collect(_ slot: Int, _ now: MonotonicTime, _ due: inout [TimerEntry]) {
    var next = unsafe slots[slot]?.takeUnretainedValue()
    while let entry = next {
      next = unsafe entry.next
      if entry.deadline <= now {
        unlink(entry)
        due.append(entry)
      } else if entry.deadline.milliseconds / TimerWheel.slotMilliseconds + 1 != entry.tick {
        unlink(entry)
        arm(entry, at: entry.deadline)
      }
    }
  }

  /// Returns the milliseconds until the next deadline may pass, for `epoll_wait`; -1 if nothing is armed.
  func millisecondsToNext(from now: MonotonicTime) -> Int32 {
    guard count > 0 else { return -1 }
    let tick = min(nextOccupiedTick, earliestDistantTick)
    return tick == .max ? -1 : TimerWheel.milliseconds(from: now, to: tick)
  }

  /// The tick of the first slot after `currentTick` that has entries; `.max` if all are empty.
  private var nextOccupiedTick: UInt64 {
    let first = currentTick + 1
    let slot = TimerWheel.slot(of: first)
    let rest = occupied[slot / 64] >> (slot % 64)
    if rest != 0 { return first + UInt64(truncatingIfNeeded: rest.trailingZeroBitCount) }
    // The elements after this one, and at the end the part of this one before `slot`.
    let (start, bits) = (UInt32(truncatingIfNeeded: slot / 64 + 1), occupiedWords)
    let following = bits &>> start | bits &<< (0 &- start)
    guard following != 0 else { return .max }
    let word = (Int(start) + following.trailingZeroBitCount) % 32
    let next = word * 64 + occupied[word].trailingZeroBitCount
    return first + UInt64(truncatingIfNeeded: (next - slot + TimerWheel.slotCount) % TimerWheel.slotCount)
  }

  private static func milliseconds(from now: MonotonicTime, to tick: UInt64) -> Int32 {
    let due = tick * slotMilliseconds
    return Int32(clamping: due.saturatingDifference(now.milliseconds))
  }
}

/// An entry of a timer wheel, e.g. a waiting task or a parked connection.
///
/// The links are unowned, because counting their references would cost more than the rest of arming. That is sound: an
/// entry leaves its wheel before it is freed (`deinit`), and it keeps the wheel alive while it may be linked.
@safe open class TimerEntry {
  fileprivate(set) var deadline = Deadline.never
  /// The tick for which the entry was linked. It is earlier than that of `deadline` if the deadline was moved since.
  fileprivate var tick: UInt64 = 0
  fileprivate unowned(unsafe) var next: TimerEntry?
  fileprivate unowned(unsafe) var previous: TimerEntry?
  fileprivate var wheel: TimerWheel?
  /// The index of the slot; -1 if the entry is not linked. A small type and the last property, so that it shares a word
  /// of memory with the small properties of the subclass for parked connections.
  fileprivate var slot: Int16 = -1

  /// Creates an entry that is not armed.
  public init() {
    unsafe next = nil
    unsafe previous = nil
  }

  deinit {
    wheel?.disarm(self)
  }

  /// Called when the deadline has passed; the entry is no longer armed.
  open func expired() {}
}
