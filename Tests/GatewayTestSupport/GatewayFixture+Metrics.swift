import Telemetry
import Time

extension GatewayFixture {
  /// The text of `/metrics`; the facts about the process are empty.
  public var metricsText: String {
    PrometheusText.render(metrics.snapshot(), process: ProcessFacts(), version: "test", startTime: 0)
  }
}
