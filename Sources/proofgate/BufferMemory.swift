import Policy

/// The default of `max_buffer_memory`, and the message to the operator about it.
///
/// Clients can make the gateway use all of it. Above the limit of the control group the kernel ends the process, so the
/// default leaves most of that limit to the program, its policy and its store.
struct BufferMemory {
  /// The value of `max_buffer_memory` if the policy does not set it, in bytes.
  let standard: Int
  /// A line to show at the start; `nil` if nothing is noteworthy.
  let note: String?
  let isWarning: Bool

  /// - Parameters:
  ///   - limit: The memory limit of the control group, in bytes; `nil` if there is none.
  ///   - configured: The value in the policy, in bytes; `nil` if it sets none.
  init(limit: Int?, configured: Int?) {
    let usual = LimitSettings.defaultBufferMemory
    // 1 MiB is the smallest value that the setting may have.
    standard = limit.map { min(usual, max(1 << 20, $0 / 4)) } ?? usual
    let allowed = "the \(BufferMemory.text(limit ?? 0)) that the control group allows"
    if let limit, let configured, configured > limit / 2 {
      note =
        "`max_buffer_memory` \(BufferMemory.text(configured)) is more than half of \(allowed): if clients use it, the "
        + "kernel may kill the process; make it smaller"
      isWarning = true
    } else if configured == nil, standard < usual {
      note = "`max_buffer_memory` is \(BufferMemory.text(standard)), a quarter of \(allowed)"
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
