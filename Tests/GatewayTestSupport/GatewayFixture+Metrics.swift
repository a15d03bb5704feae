import Telemetry

extension GatewayFixture {
  /// What `/metrics` would say of the workers.
  public var metricsText: String {
    PrometheusText.render(metrics.snapshot(), process: ProcessFacts(), version: "test", startTime: 0)
  }
}
