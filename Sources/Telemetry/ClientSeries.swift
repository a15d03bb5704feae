internal import Synchronization

/// The clients that have metric series of their own: the first `maximum` clients seen. All others share the label
/// `other`.
final class ClientSeries: Sendable {
  /// 1000, because each series costs memory in the gateway and in the monitoring system.
  static let maximum = 1000

  private let admitted = Mutex<Set<String>>([])

  /// Returns the label for a client: its id, or `other` once `maximum` clients have a series.
  func label(for client: String) -> String {
    admitted.withLock { clients in
      if clients.contains(client) { return client }
      guard clients.count < ClientSeries.maximum else { return "other" }
      clients.insert(client)
      return client
    }
  }
}
