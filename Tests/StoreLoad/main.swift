import DiskStore
import Reactor
import Time

// Puts load on a store, for Tests/Stores/crash:
//
//     StoreLoad PATH redeem CONCURRENCY SECONDS    prints the redemptions a second of a store in a file
//     StoreLoad PATH sessions CONCURRENCY FIRST    prints a line for each record (`Sessions`), until it is killed
//     StoreLoad PATH verify < LINES                prints the records of `sessions` that the store has lost
//     StoreLoad - families COUNT                   prints the memory that a store in memory takes

let arguments = Array(ProcessControl.arguments.dropFirst())
guard arguments.count >= 2 else { fail("usage: StoreLoad PATH redeem|sessions|verify|families ...") }
let numbers = arguments.dropFirst(2).map { Int($0) ?? 0 }

/// Opens the file. Its size is enough for all records of a run, which do not expire in this time.
func open() -> FileStore {
  do throws(FileStoreError) {
    let store = try FileStore(path: arguments[0], size: 1 << 30)
    // Neither the end of a process nor a power cut damages the log.
    if let notice = store.newEpochNotice { fail(notice) }
    return store
  } catch {
    fail("\(error)")
  }
}

/// Runs `body` this many times at once, on all workers.
func start(_ count: Int, _ body: @escaping @Sendable () async -> Void) async throws {
  for index in 0..<Load.workers {
    let worker = try Worker(index: index)
    try worker.start(name: "load")
    let share = (count + index) / Load.workers
    await worker.perform { worker in
      for _ in 0..<share { worker.poller.start(Client(body)) }
    }
  }
}

switch (arguments[1], numbers.count) {
case ("redeem", 2):
  let redemptions = Redemptions(open())
  let end = SystemClock.monotonicTime() + Milliseconds(numbers[1] * 1_000)
  try await start(numbers[0]) { await redemptions.redeem(until: end) }
  try await Task.sleep(for: .seconds(numbers[1] + 1))
  redemptions.report(seconds: numbers[1])
case ("sessions", 2):
  let sessions = Sessions(open(), first: numbers[1])
  try await start(numbers[0]) { await sessions.run() }
  // The process is killed; the time limits what it does if it is not.
  try await Task.sleep(for: .seconds(120))
case ("verify", 0):
  var lines: [String] = []
  while let line = readLine() { lines.append(line) }
  let clients = 64
  let verification = Verification(open(), lines, clients: clients)
  try await start(clients) { await verification.run() }
  try await Task.sleep(for: .seconds(120))
  fail("the records were not verified in 120 s")
case ("families", 1):
  await Families.fill(numbers[0])
default: fail("usage: StoreLoad PATH redeem|sessions|verify|families ...")
}
