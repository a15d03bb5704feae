import ArgumentParser
import Reactor
import Synchronization

/// The event loop of a command that serves connections. The loop runs on the thread that calls `run`, and so do all its
/// tasks: no task runs on a thread pool.
struct MainLoop {
  private let worker: Worker
  private let signals: Signals

  /// Prepares the process and creates the loop. If the kernel has no resources left, writes an error message and throws
  /// `ExitCode.systemFailure`.
  init() throws {
    ProcessControl.ignoreBrokenPipes()
    ProcessControl.forbidDumps()
    ProcessControl.allocateLargeBlocksWithMmap()
    Descriptors.raiseLimit()
    do throws(IOError) {
      signals = try Signals()
      worker = try Worker(index: 0)
    } catch {
      Console.fail("cannot start: \(error)")
      throw ExitCode.systemFailure
    }
  }

  /// Runs the loop until `main` returns. Throws the exit code that `main` returns, unless it is `success`.
  ///
  /// Throws `ExitCode.systemFailure` without calling `main` if the Swift runtime does not schedule tasks as the loop
  /// needs.
  func run(_ main: @escaping @Sendable (isolated Worker, Signals) async -> ExitCode) throws {
    let code = Atomic<Int32>(0)
    let signals = signals
    worker.runOnCurrentThread { worker in
      guard worker.handsOverTasksImmediately() else {
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
