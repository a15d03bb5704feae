import ArgumentParser
import Reactor
import Synchronization

/// The event loop of a command that runs until a signal ends it. It runs on this thread: no task ever runs on a thread
/// pool.
struct MainLoop {
  private let worker: Worker
  private let signals: Signals

  /// Prepares the process. Reports an error and throws `ExitCode.systemFailure` if the kernel is out of resources.
  init() throws {
    ProcessSettings.ignoreBrokenPipes()
    ProcessSettings.forbidDumps()
    ProcessSettings.mapLargeBlocks()
    Descriptors.raiseLimit()
    do throws(IOError) {
      signals = try Signals()
      worker = try Worker(index: 0)
    } catch {
      Console.fail("cannot start: \(error)")
      throw ExitCode.systemFailure
    }
  }

  /// Runs the loop until `main` returns. Throws its exit code unless it is success.
  func run(_ main: @escaping @Sendable (isolated Worker, Signals) async -> ExitCode) throws {
    let code = Atomic<Int32>(0)
    let signals = signals
    worker.runHere { worker in
      guard worker.handsTasksOverAtOnce() else {
        Console.fail("cannot start: this build's Swift runtime resumes tasks on other threads; build with Swift 6.3")
        code.store(ExitCode.systemFailure.rawValue, ordering: .relaxed)
        worker.stop()
        return
      }
      code.store(await main(worker, signals).rawValue, ordering: .relaxed)
      worker.stop()
    }
    let result = ExitCode(code.load(ordering: .relaxed))
    if !result.isSuccess { throw result }
  }
}
