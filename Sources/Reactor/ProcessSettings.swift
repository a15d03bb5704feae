import CLinux

/// Settings of the whole process, made once before any thread is started.
public enum ProcessSettings {
  /// A peer that goes away shows as an error of the call, not as a signal.
  public static func ignoreBrokenPipes() {
    cl_ignore_sigpipe()
  }

  /// No core dump and no debugger of another user: the process holds secrets (`I-secrets`).
  public static func forbidDumps() {
    cl_set_undumpable()
  }

  /// Gives the pages of the program's code back. Starting touches three quarters of it once (the runtime looks through all
  /// types for the conformances that reading a command line and a policy asks for); serving uses a small part, which the
  /// kernel maps again from its cache as it is needed.
  public static func releaseCode() {
    cl_release_code()
  }

  /// Gives freed memory back to the system. Reading a policy frees much between what stays, and the allocator by itself only
  /// returns what lies at its end: the next reload, on a thread with memory of its own, would find none of it.
  public static func releaseMemory() {
    cl_release_memory()
  }

  /// Has large blocks come from the system and go back to it when they are freed. By itself the allocator raises what it
  /// calls large with every such block that is freed: then a policy's file and tables, which are in use for a moment, stay.
  public static func mapLargeBlocks() {
    cl_map_large_blocks()
  }

  /// Lets the calling thread run only when others leave it time (`nice 19`; where they do not, it has a sixtieth): for work
  /// that must not be in the way of traffic.
  public static func lowerPriority() {
    cl_lower_priority()
  }

  /// The version of the C library that is linked, for example `2.36`.
  public static var libraryVersion: String { unsafe String(cString: cl_library_version()) }

  public static var identifier: Int { Int(cl_process_id()) }

  /// The words of the command line, the program's name first. Unlike `CommandLine.arguments` it needs no `/proc`.
  public static var arguments: [String] {
    (0..<cl_argument_count()).compactMap { index in
      guard let text = unsafe cl_argument(index) else { return nil }
      return unsafe String(cString: text)
    }
  }

  /// Ends the process at once: what other threads are in the middle of stays so.
  public static func exitNow(_ code: Int) -> Never {
    cl_exit_now(Int32(truncatingIfNeeded: code))
  }

  /// True if standard output is a terminal.
  public static var writesToTerminal: Bool { cl_is_terminal(1) == 1 }
}
