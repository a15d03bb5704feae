/// Sends requests of the probe to one server. Tests replace it by a server in memory.
package protocol ProbeTransport: AnyObject {
  /// Sends a request and waits for its response. Follows no redirect.
  func send(_ request: ProbeRequest) async throws(ProbeFailure) -> ProbeAnswer
}
