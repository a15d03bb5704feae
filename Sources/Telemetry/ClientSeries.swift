internal import Synchronization

/// The clients that have their own metric series. They are the first clients that occur, up to a maximum number. All
/// other clients share the label `other`.
final class ClientSeries: Sendable {
  /// The maximum number of clients with their own series. It is limited because each series uses memory in the gateway
  /// and in the monitoring system.
  static let maximum = 1000

  private let clientsWithSeries = Mutex<Set<String>>([])

  /// Returns the label for a client: its id if it has its own series, or can get one, otherwise `other`.
  func label(for client: String) -> String {
    clientsWithSeries.withLock { clients in
      if clients.contains(client) { return client }
      guard clients.count < ClientSeries.maximum else { return "other" }
      clients.insert(client)
      return client
    }
  }
}
