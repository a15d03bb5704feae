public import HTTP
import Synchronization

/// Remembers what arrived, so that a test can say what did, or that nothing did.
///
/// It keeps the latest requests only, and counts all.
public final class RequestRecorder: Sendable {
  private struct Log: Sendable {
    var kept: [Request] = []
    var next = 0
    var total = 0
  }

  private let log = Mutex(Log())
  private let limit: Int

  /// - Parameter limit: How many requests are kept.
  public init(limit: Int = 256) {
    self.limit = max(1, limit)
  }

  public func record(_ request: Request) {
    log.withLock { log in
      log.total += 1
      if log.kept.count < limit {
        log.kept.append(request)
      } else {
        log.kept[log.next] = request
        log.next = (log.next + 1) % limit
      }
    }
  }

  /// How many requests ever arrived, since the last ``reset()``.
  public var count: Int { log.withLock { $0.total } }

  /// The latest requests, oldest first.
  public var requests: [Request] {
    log.withLock { Array($0.kept[$0.next...] + $0.kept[..<$0.next]) }
  }

  /// The latest requests for one path.
  public func requests(to path: String) -> [Request] {
    requests.filter { $0.path == path }
  }

  public func reset() {
    log.withLock { $0 = Log() }
  }
}
