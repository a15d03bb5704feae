import CLinux

/// Settings of the whole process, made once before any thread starts, and a few facts about it.
public enum ProcessSettings {
  /// Ignores SIGPIPE: a closed peer is reported as an error of the call, not as a signal.
  public static func ignoreBrokenPipes() {
    cl_ignore_sigpipe()
  }

  /// Forbids core dumps and debuggers of other users: the process holds secrets (`I-secrets`).
  public static func forbidDumps() {
    cl_set_undumpable()
  }

  /// Releases the pages of the program's code. Start-up touches three quarters of it once (the runtime searches all
  /// types for the conformances that parsing a command line and a policy needs); serving uses a small part, which the
  /// kernel maps again from its cache on demand.
  public static func releaseCode() {
    cl_release_code()
  }

  /// Returns freed memory to the system. Loading a policy frees many blocks between long-lived ones, and the allocator
  /// itself returns only the memory at its end. The next reload runs on a thread with its own arena and could not
  /// reuse the freed blocks.
  public static func releaseMemory() {
    cl_release_memory()
  }

  /// Maps large blocks directly from the system and unmaps them when they are freed. By default the allocator raises
  /// its threshold for "large" with each such block that is freed; then the memory of a policy file and its tables,
  /// which are in use only briefly, would be kept.
  public static func mapLargeBlocks() {
    cl_map_large_blocks()
  }

  /// Lowers the priority of the calling thread to `nice` 19, for work that must not delay traffic. If other threads
  /// are busy, it gets about a sixtieth of a processor.
  public static func lowerPriority() {
    cl_lower_priority()
  }

  /// The version of the linked C library, for example `2.36`.
  public static var libraryVersion: String { unsafe String(cString: cl_library_version()) }

  /// The process id.
  public static var identifier: Int { Int(cl_process_id()) }

  /// The arguments of the command line, starting with the program name. Unlike `CommandLine.arguments` it needs no
  /// `/proc`.
  public static var arguments: [String] {
    (0..<cl_argument_count()).compactMap { index in
      guard let text = unsafe cl_argument(index) else { return nil }
      return unsafe String(cString: text)
    }
  }

  /// Ends the process immediately; work in progress on other threads is cut off.
  public static func exitNow(_ code: Int) -> Never {
    cl_exit_now(Int32(truncatingIfNeeded: code))
  }

  /// True if standard output is a terminal.
  public static var writesToTerminal: Bool { cl_is_terminal(1) == 1 }
}
