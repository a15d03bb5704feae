import DiskStore
import OAuth
import Reactor
import Stores
import Synchronization
import Time

// Puts load on a store in a file, for Tests/Stores: redemptions at a given concurrency. Each line of output is one
// answered claim, written before the client makes the next one, so that a reader knows which claims were answered
// before the process was killed.
//
//     StoreLoad PATH redeem CONCURRENCY SECONDS      prints the redemptions per second
//     StoreLoad PATH claim CONCURRENCY FIRST         prints "c NUMBER" for each claim, until it is killed
//     StoreLoad PATH verify < NUMBERS                prints "lost NUMBER" for each claim that the store does not have

enum Load {
  static let workers = 2

  static func key(_ number: Int) -> TransactionID {
    var bytes = [UInt8](repeating: 0, count: 16)
    // Spread over the index like random names.
    var state = UInt64(truncatingIfNeeded: number) &* 0x9e37_79b9_7f4a_7c15
    for index in 0..<16 {
      state ^= state >> 29
      state = state &* 0xbf58_476d_1ce4_e5b9
      bytes[index] = UInt8(truncatingIfNeeded: state >> 33)
    }
    guard let id = TransactionID(bytes: bytes) else { preconditionFailure("16 bytes are an id") }
    return id
  }

  static let holder = StoreHolder(address: "127.0.0.1", isLoopback: true)
  static var now: UnixTime { SystemClock.unixTime() }
}

/// One client on a worker.
final class Client: Activity {
  private let body: () async -> Void
  init(_ body: @escaping () async -> Void) { self.body = body }
  func run() async { await body() }
}

/// Writes a line without buffering, because the process may be killed.
func show(_ text: String) {
  if let output = try? LogFile(.standardOutput) { _ = output.write(Array((text + "\n").utf8)) }
}

func fail(_ text: String) -> Never {
  show(text)
  ProcessControl.exitNow(1)
}

let arguments = Array(ProcessControl.arguments.dropFirst())
guard arguments.count >= 2 else { fail("usage: StoreLoad PATH redeem|claim|verify ...") }
let opened: FileStore
do throws(FileStoreError) {
  // Large enough for all claims of a run, which do not expire in this time.
  opened = try FileStore(path: arguments[0], size: 1 << 30)
} catch {
  fail("error: \(error)")
}
let store = opened
let ledger = RedemptionLedger(store: store)
let group = try (0..<Load.workers).map { try Worker(index: $0) }
let next = Atomic<Int>(
  arguments.count > 3 && arguments[1] == "claim" ? Int(arguments[3]) ?? 0 : Int(Load.now.seconds) << 20)
let done = Atomic<Int>(0)
let failed = Atomic<Int>(0)

switch arguments[1] {
case "redeem":
  let (concurrency, seconds) = (Int(arguments[2]) ?? 256, Int(arguments[3]) ?? 5)
  let end = SystemClock.monotonicNanoseconds() + UInt64(seconds) * 1_000_000_000
  for worker in group {
    try worker.start(name: "bench")
    await worker.perform { worker in
      for _ in 0..<concurrency / Load.workers {
        worker.poller.start(
          Client {
            while SystemClock.monotonicNanoseconds() < end {
              let number = next.add(1, ordering: .relaxed).newValue
              do {
                let claim = try await ledger.claim(
                  Load.key(number), client: ClientID("mail"), verifier: Secret("verifier"),
                  holder: Load.holder, epoch: store.epoch, lease: 20, expiry: Load.now + 60, now: Load.now)
                guard case .granted(let attempt) = claim else { fail("not granted: \(claim)") }
                try await ledger.spend(attempt, now: Load.now)
                done.add(1, ordering: .relaxed)
              } catch {
                failed.add(1, ordering: .relaxed)
              }
            }
          })
      }
    }
  }
  try await Task.sleep(for: .seconds(seconds + 1))
  let figures = store.checkpoints
  print(
    "\(done.load(ordering: .relaxed) / seconds) redemptions/s, \(failed.load(ordering: .relaxed)) failed,",
    "\(figures.count) copies of the log, the longest \(figures.longest / 1_000) us")
case "claim":
  let concurrency = Int(arguments[2]) ?? 64
  for worker in group {
    try worker.start(name: "bench")
    await worker.perform { worker in
      for _ in 0..<concurrency / Load.workers {
        worker.poller.start(
          Client {
            let output = try? LogFile(.standardOutput)
            while true {
              let number = next.add(1, ordering: .relaxed).newValue
              do {
                let claim = try await ledger.claim(
                  Load.key(number), client: ClientID("mail"), verifier: Secret("verifier"),
                  holder: Load.holder, epoch: store.epoch, lease: 20, expiry: Load.now + 3_600, now: Load.now)
                guard case .granted = claim else { fail("error: not granted: \(claim)") }
              } catch {
                fail("error: \(error)")
              }
              _ = output?.write(Array("c \(number)\n".utf8))
            }
          })
      }
    }
  }
  try await Task.sleep(for: .seconds(120))
case "verify":
  let worker = group[0]
  try worker.start(name: "bench")
  var numbers: [Int] = []
  while let line = readLine() { if let number = Int(line) { numbers.append(number) } }
  let all = numbers
  await worker.perform { worker in
    worker.poller.start(
      Client {
        var lost = 0
        for number in all {
          let value = try? await store.get(StoreKey(.claim, id: Load.key(number)), now: Load.now)
          if value == nil {
            lost += 1
            show("lost \(number)")
          }
        }
        show("checked \(all.count) lost \(lost)")
        ProcessControl.exitNow(lost == 0 ? 0 : 1)
      })
  }
  try await Task.sleep(for: .seconds(120))
default: fail("usage: StoreLoad PATH redeem|claim|verify ...")
}
