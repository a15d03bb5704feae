internal import Synchronization

/// The clients that have their own metric series: the first `maximum` clients that occur. All other clients share the
/// label `other`.
final class ClientSeries: Sendable {
  /// The maximum number of clients with their own series, because each series uses memory in the gateway and in the
  /// monitoring system.
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
