internal import Synchronization

/// Which clients have series of their own: the first so many that were seen. All others share one.
final class ClientSeries: Sendable {
  /// Series cost memory here and in the monitoring system.
  static let maximum = 1000

  private let admitted = Mutex<Set<String>>([])

  func label(for client: String) -> String {
    admitted.withLock { clients in
      if clients.contains(client) { return client }
      guard clients.count < ClientSeries.maximum else { return "other" }
      clients.insert(client)
      return client
    }
  }
}
