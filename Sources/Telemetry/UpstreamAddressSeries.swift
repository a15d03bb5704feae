/// The metrics of one address of the upstream.
public struct UpstreamAddressSeries: Sendable {
  /// The address, the value of the label.
  let address: String
  /// False while requests avoid the address, because it has failed.
  let isInService: Bool
  /// The number of requests that were assigned a connection to the address.
  let requests: UInt64
  /// The number of failures of the address.
  let failures: UInt64
  /// The number of open connections.
  let connections: UInt64
  /// The numbers of active checks that have passed and failed; `nil` without such checks.
  let checks: (passed: UInt64, failed: UInt64)?

  /// Creates the metrics of an address.
  public init(
    address: String, isInService: Bool, requests: UInt64, failures: UInt64, connections: UInt64,
    checks: (passed: UInt64, failed: UInt64)? = nil
  ) {
    self.checks = checks
    self.address = address
    self.isInService = isInService
    self.requests = requests
    self.failures = failures
    self.connections = connections
  }
}

extension PrometheusText {
  mutating func writeAddresses(_ addresses: [UpstreamAddressSeries]) {
    guard !addresses.isEmpty else { return }
    writeMetric("proofgate_upstream_address_in_service", "gauge", "0 while requests avoid the address after failures.")
    for each in addresses {
      writeSample("proofgate_upstream_address_in_service", [("address", each.address)], each.isInService ? 1 : 0)
    }
    writeMetric("proofgate_upstream_address_connections", "gauge", "Open connections to the address.")
    for each in addresses {
      writeSample("proofgate_upstream_address_connections", [("address", each.address)], each.connections)
    }
    writeMetric(
      "proofgate_upstream_address_requests_total", "counter", "Requests that used a connection to the address.")
    for each in addresses {
      writeSample("proofgate_upstream_address_requests_total", [("address", each.address)], each.requests)
    }
    writeMetric(
      "proofgate_upstream_address_failures_total", "counter",
      "Failed connects, lost requests and failed responses of the address.")
    for each in addresses {
      writeSample("proofgate_upstream_address_failures_total", [("address", each.address)], each.failures)
    }
    guard addresses.contains(where: { $0.checks != nil }) else { return }
    writeMetric("proofgate_upstream_health_checks_total", "counter", "Active checks of the address.")
    for each in addresses {
      guard let checks = each.checks else { continue }
      for (outcome, count) in [("passed", checks.passed), ("failed", checks.failed)] {
        writeSample(
          "proofgate_upstream_health_checks_total", [("address", each.address), ("outcome", outcome)], count)
      }
    }
  }
}
