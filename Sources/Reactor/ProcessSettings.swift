import CLinux

/// What is set once for the whole process, before any thread is started.
public enum ProcessSettings {
  /// A peer that goes away shows as an error of the call, not as a signal.
  public static func ignoreBrokenPipes() {
    cl_ignore_sigpipe()
  }

  /// No core dump and no debugger of another user: the process holds secrets (`I-secrets`).
  public static func forbidDumps() {
    cl_set_undumpable()
  }

  public static var identifier: Int { Int(cl_process_id()) }
}
