import ArgumentParser
import Reactor
import Synchronization

/// The event loop of a command that serves connections. The loop and all its tasks run on the thread that calls `run`,
/// not on a thread pool.
struct MainLoop {
  private let worker: Worker
  private let signals: Signals

  /// Sets up signals, memory and the descriptor limit of the process, and creates the loop. If the kernel has no
  /// resources left, reports the error and throws `ExitCode.systemFailure`.
  init() throws {
    ProcessControl.ignoreBrokenPipes()
    ProcessControl.forbidDumps()
    ProcessControl.allocateLargeBlocksWithMmap()
    Descriptors.raiseLimit()
    do throws(IOError) {
      signals = try Signals()
      worker = try Worker(index: 0)
    } catch {
      Console.reportError("cannot start: \(error)")
      throw ExitCode.systemFailure
    }
  }

  /// Runs the loop until `main` returns. Throws the exit code that `main` returns, unless it is `success`.
  ///
  /// Throws `ExitCode.systemFailure` without calling `main` if the Swift runtime does not enqueue the job of a waiting
  /// task synchronously, because tasks would then resume on other threads.
  func run(_ main: @escaping @Sendable (isolated Worker, Signals) async -> ExitCode) throws {
    let code = Atomic<Int32>(0)
    let signals = signals
    worker.runOnCurrentThread { worker in
      guard worker.runtimeEnqueuesJobsSynchronously() else {
        Console.reportError(
          "cannot start: this build's Swift runtime resumes tasks on other threads; build with Swift 6.3")
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
