public import HTTP
import Synchronization

/// Records the requests that arrive at a server, so that a test can check them.
///
/// The recorder counts all requests, but keeps only the latest ones.
public final class RequestRecorder: Sendable {
  private struct Log: Sendable {
    /// The latest requests. When the array is full, the oldest request is replaced.
    var latest: [Request] = []
    /// The index of the oldest request in `latest`.
    var oldest = 0
    var total = 0
  }

  private let log = Mutex(Log())
  private let limit: Int

  /// - Parameter limit: The maximum number of requests to keep.
  public init(limit: Int = 256) {
    self.limit = max(1, limit)
  }

  /// Records a request.
  public func record(_ request: Request) {
    log.withLock { log in
      log.total += 1
      if log.latest.count < limit {
        log.latest.append(request)
      } else {
        log.latest[log.oldest] = request
        log.oldest = (log.oldest + 1) % limit
      }
    }
  }

  /// The number of requests since the last ``reset()``, including those that are no longer kept.
  public var count: Int { log.withLock { $0.total } }

  /// The kept requests, oldest first.
  public var requests: [Request] {
    log.withLock { Array($0.latest[$0.oldest...] + $0.latest[..<$0.oldest]) }
  }

  /// Returns the kept requests for one path, oldest first.
  public func requests(to path: String) -> [Request] {
    requests.filter { $0.path == path }
  }

  /// Removes all requests and sets the count to 0.
  public func reset() {
    log.withLock { $0 = Log() }
  }
}
