import Policy

/// The default value of the setting `max_buffer_memory`, and a message to the operator about the setting.
///
/// Clients can make the gateway use all of its buffer memory. If the process exceeds the memory limit of its control
/// group, the kernel kills it. The default is therefore at most a quarter of this limit, but at least 1 MiB. The other
/// three quarters are for the program, its policy and its store.
struct BufferMemory {
  /// The default of `max_buffer_memory`, in bytes.
  let defaultValue: Int
  /// A message to show when the gateway starts, if the policy sets more than half of the memory limit, or if the limit
  /// makes the default smaller than usual and the policy sets no value. `nil` otherwise.
  let note: String?
  /// True if `note` is a warning.
  let isWarning: Bool

  /// - Parameters:
  ///   - limit: The memory limit of the control group, in bytes; `nil` if there is none.
  ///   - configured: The value of the setting in the policy, in bytes; `nil` if the policy does not set it.
  init(memoryLimit limit: Int?, configuredValue configured: Int?) {
    let usual = LimitSettings.defaultBufferMemory
    // 1 MiB is the smallest value that the setting may have.
    defaultValue = limit.map { min(usual, max(1 << 20, $0 / 4)) } ?? usual
    let allowed = "the \(BufferMemory.text(limit ?? 0)) that the control group allows"
    if let limit, let configured, configured > limit / 2 {
      note =
        "`max_buffer_memory` \(BufferMemory.text(configured)) is more than half of \(allowed): if clients use it, the "
        + "kernel may kill the process; make it smaller"
      isWarning = true
    } else if configured == nil, defaultValue < usual {
      note = "`max_buffer_memory` is \(BufferMemory.text(defaultValue)), a quarter of \(allowed)"
      isWarning = false
    } else {
      note = nil
      isWarning = false
    }
  }

  private static func text(_ bytes: Int) -> String {
    bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : "\(bytes >> 10) KiB"
  }
}
