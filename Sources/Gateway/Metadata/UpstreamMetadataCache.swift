import Synchronization
import Time

/// The latest copy of the upstream's metadata document, which all workers share.
///
/// One request at a time reads the document from the upstream. Meanwhile, other requests use the copy that is there.
/// A copy is kept for as long as the upstream does not answer.
final class UpstreamMetadataCache: Sendable {
  /// The place of the document. A copy from another place is not used, for example after a reload of the policy.
  struct Source: Sendable, Equatable {
    /// The URL of the upstream, or its Unix socket.
    let url: String
    /// The paths in the order in which they are tried.
    let paths: [String]
    /// True if the policy names the paths, so that the document must exist.
    let isConfigured: Bool
  }

  /// The upstream's document, or the fact that it has none.
  struct Copy: Sendable {
    /// A number that no other copy in this process has.
    let number: UInt64
    /// The document; `nil` if the upstream has none.
    let document: UpstreamMetadata?
    /// The time until which the copy is used without asking the upstream.
    let freshUntil: UnixTime
    let readAt: UnixTime
  }

  /// The next step of a request that needs the document.
  enum Step {
    case use(Copy)
    /// Read the document from the upstream, and then call `finish`. The copy is to be used if this fails.
    case read(instead: Copy?)
    /// Wait: another request reads the first copy.
    case wait
    /// The upstream failed a moment ago, and there is no copy.
    case fail
  }

  /// The time for which a failure of the upstream is remembered, so that requests for the gateway's document cannot
  /// flood a server in trouble.
  private static let retryDelay: Seconds = 5
  /// The lifetime of a copy from an incomplete search: some path answered with a server error.
  static let uncertainLifetime: Seconds = 30

  private struct State {
    var source: Source?
    var copy: Copy?
    var lastNumber: UInt64 = 0
    var isReading = false
    var failedAt: UnixTime?
  }

  private let state = Mutex(State())

  /// The latest document; `nil` if the upstream has none, or if it was not read.
  var document: UpstreamMetadata? { state.withLock { $0.copy?.document } }

  /// Returns the next step of a request at the time `now`.
  func step(for source: Source, now: UnixTime) -> Step {
    state.withLock { state in
      if state.source != source {
        // A request that still reads the former document finds another source when it finishes.
        state = State(source: source, lastNumber: state.lastNumber)
      }
      // A copy from the future was read before the clock was set back.
      if let copy = state.copy, now < copy.freshUntil, copy.readAt <= now { return .use(copy) }
      let hasFailed = state.failedAt.map { $0 <= now && now < $0 + UpstreamMetadataCache.retryDelay } ?? false
      if state.isReading || hasFailed { return state.copy.map(Step.use) ?? (state.isReading ? .wait : .fail) }
      state.isReading = true
      return .read(instead: state.copy)
    }
  }

  /// Records the end of a read, and returns the new copy.
  func finish(_ document: UpstreamMetadata?, of source: Source, lifetime: Seconds, now: UnixTime) -> Copy {
    state.withLock { state in
      state.lastNumber += 1
      let copy = Copy(number: state.lastNumber, document: document, freshUntil: now + lifetime, readAt: now)
      guard state.source == source else { return copy }
      state.copy = copy
      state.isReading = false
      state.failedAt = nil
      return copy
    }
  }

  /// Records a read without a result.
  ///
  /// - Parameter isFailure: False if the read ended because the client went away.
  func abandon(_ source: Source, isFailure: Bool, now: UnixTime) {
    state.withLock { state in
      guard state.source == source else { return }
      state.isReading = false
      state.failedAt = isFailure ? now : nil
    }
  }
}
