import Policy

/// `max_buffer_memory` where the policy does not say it, and what the operator is told of it.
///
/// Clients can ask for all of it. Above the limit of the control group the kernel ends the process, so the default leaves
/// most of that limit to the program, its policy and its store.
struct BufferMemory {
  /// Bytes.
  let standard: Int
  /// A line for the start, if there is something to say.
  let note: String?
  let isWarning: Bool

  /// - Parameters:
  ///   - limit: bytes of the control group.
  ///   - configured: what the policy says.
  init(limit: Int?, configured: Int?) {
    let usual = LimitSettings.defaultBufferMemory
    // The least that the setting may be.
    standard = limit.map { min(usual, max(1 << 20, $0 / 4)) } ?? usual
    let allowed = "the \(BufferMemory.text(limit ?? 0)) that the control group allows"
    if let limit, let configured, configured > limit / 2 {
      note =
        "`max_buffer_memory` \(BufferMemory.text(configured)) is more than half of \(allowed): clients that use it get "
        + "the process killed; make it smaller"
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
