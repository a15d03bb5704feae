import ArgumentParser
import Reactor
import Synchronization

/// A command that handles SIGINT, SIGTERM and other signals (`MainLoop.signals`). They wait from the start of the process
/// on, and end all other commands.
protocol SignalHandlingCommand: ParsableCommand {}

/// The event loop of a command that serves connections. The loop and all its tasks run on the thread that calls `run`,
/// not on a thread pool.
struct MainLoop {
  private let worker: Worker

  /// Sets up memory and the descriptor limit of the process, and creates the loop. If the kernel has no
  /// resources left, reports the error and throws `ExitCode.systemFailure`.
  ///
  /// - Parameter workers: The smallest number of workers with which the command accepts connections; 0 if it accepts none.
  init(accepting workers: Int = 0) throws {
    ProcessControl.ignoreWriteSignals()
    ProcessControl.forbidDumps()
    ProcessControl.allocateLargeBlocksWithMmap()
    Descriptors.raiseLimit()
    // A process with very few descriptors may not even be able to say so later.
    if workers > 0, let shortage = DescriptorShortage(workers: workers) {
      Console.reportError(shortage.description)
      throw ExitCode.systemFailure
    }
    do throws(IOError) {
      worker = try Worker(index: 0)
    } catch {
      Console.reportError("cannot start: \(error)")
      throw ExitCode.systemFailure
    }
  }

  /// Takes over SIGINT, SIGTERM and other signals, for a `SignalHandlingCommand`. Errors are those of `init`.
  static func signals() throws -> Signals {
    do throws(IOError) {
      return try Signals()
    } catch {
      Console.reportError("cannot start: \(error)")
      throw ExitCode.systemFailure
    }
  }

  /// Runs the loop until `main` returns. Throws the exit code that `main` returns, unless it is `success`.
  ///
  /// Throws `ExitCode.systemFailure` without calling `main` if the Swift runtime does not enqueue the job of a waiting
  /// task synchronously, because tasks would then resume on other threads.
  func run(_ main: @escaping @Sendable (isolated Worker) async -> ExitCode) throws {
    let code = Atomic<Int32>(0)
    worker.runOnCurrentThread { worker in
      guard worker.runtimeEnqueuesJobsSynchronously() else {
        Console.reportError(
          "cannot start: this build's Swift runtime resumes tasks on other threads; build with Swift 6.3")
        code.store(ExitCode.systemFailure.rawValue, ordering: .relaxed)
        worker.stop()
        return
      }
      code.store(await main(worker).rawValue, ordering: .relaxed)
      worker.stop()
    }
    let result = ExitCode(code.load(ordering: .relaxed))
    if !result.isSuccess { throw result }
  }
}
