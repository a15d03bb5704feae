import CLinux

/// Settings of the process or of the calling thread, and a few facts about the process.
public enum ProcessControl {
  /// Ignores SIGPIPE and SIGXFSZ, so that a write to a closed connection, or to a file that has its maximum size, fails with an
  /// error and does not end the process.
  public static func ignoreWriteSignals() {
    cl_ignore_write_signals()
  }

  /// Forbids core dumps, and debuggers without CAP_SYS_PTRACE, because they would reveal the secrets in memory
  /// (promise `I-secrets` in docs/threat-model.md).
  public static func forbidDumps() {
    cl_set_undumpable()
  }

  /// Makes a fatal signal write one line to standard error: the signal, the address in the program, the build, and the
  /// request on which the thread works. Call it before the process starts threads.
  public static func reportCrashes() {
    cl_report_crashes()
  }

  /// Releases the pages of the program's code. Start-up uses three quarters of them once (the runtime searches all
  /// types for the conformances that parsing a command line and a policy needs). Serving uses a small part, which the
  /// kernel maps again from its cache on demand.
  public static func releaseCodePages() {
    cl_release_code()
  }

  /// Returns freed memory to the system. Loading a policy frees many blocks between long-lived ones, and the allocator
  /// by itself returns only the memory at the end of its heap. The next reload runs on a thread with its own arena and
  /// could not reuse the freed blocks.
  public static func releaseMemory() {
    cl_release_memory()
  }

  /// Makes the allocator map blocks of 1 MiB or more directly from the system, and unmap them when they are freed. By
  /// default the allocator raises this threshold whenever it frees such a block. Then it would keep the memory of a
  /// policy file and its tables, which are in use only briefly.
  public static func allocateLargeBlocksWithMmap() {
    cl_map_large_blocks()
  }

  /// Lowers the priority of the calling thread to `nice` 19, for work that must not delay traffic. While a thread of
  /// normal priority needs the same processor, the calling thread gets less than a sixtieth of its time.
  public static func lowerPriority() {
    cl_lower_priority()
  }

  /// The version of the linked C library, for example `2.36`.
  public static var libraryVersion: String { unsafe String(cString: cl_library_version()) }

  /// The process id.
  public static var identifier: Int { Int(cl_process_id()) }

  /// The name of this machine; empty if it has none.
  public static var hostName: String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
      guard let base = text.baseAddress, unsafe cl_host_name(base, 256) == 0 else { return "" }
      return unsafe String(cString: base)
    }
  }

  /// The arguments of the command line, starting with the program name. Unlike `CommandLine.arguments`, they do not
  /// require `/proc`.
  public static var arguments: [String] {
    (0..<cl_argument_count()).compactMap { index in
      guard let text = unsafe cl_argument(index) else { return nil }
      return unsafe String(cString: text)
    }
  }

  /// Ends the process immediately, with this exit code. Work in progress on other threads is cut off.
  public static func exitNow(_ code: Int) -> Never {
    cl_exit_now(Int32(truncatingIfNeeded: code))
  }

  /// True if standard output is a terminal.
  public static var writesToTerminal: Bool { cl_is_terminal(1) == 1 }

  /// True if standard error is a terminal.
  public static var writesErrorsToTerminal: Bool { cl_is_terminal(2) == 1 }
}
