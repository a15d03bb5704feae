import JSON
import Policy
import Time

@testable import Gateway

/// Input: the body of a device authorization response of the upstream. The device gets a code that a user can type,
/// bounded times, and addresses of the gateway only.
enum DeviceAnswerTarget {
  private static let gateway = Origin(scheme: .https, host: "gw.example")
  private static let upstream = UpstreamSettings(
    origin: Origin(scheme: .http, host: "legacy.internal", port: 8_080),
    endpoints: EndpointPaths(authorization: [], token: []))

  static func check(_ input: [UInt8]) throws(Violation) {
    guard let members = JSONValue.members(of: input), let answer = UpstreamDeviceAnswer(members) else { return }
    let code = answer.userCode.utf8
    try Violation.unless(
      !code.isEmpty && code.count <= UpstreamDeviceAnswer.maximumUserCodeLength
        && code.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "a user code that cannot be typed")
    try Violation.unless(
      (1...UpstreamDeviceAnswer.maximumInterval.count).contains(answer.interval.count), "an interval without a bound")
    try Violation.unless(answer.lifetime.map { (1...1_000_000).contains($0.count) } ?? true, "an endless lifetime")
    for page in [answer.page, answer.completePage] {
      guard let page else { continue }
      guard let address = UpstreamDeviceAnswer.address(of: page, gateway: gateway, upstream: upstream) else {
        try Violation.unless(page.origin.host != upstream.origin.host, "a page of the upstream is refused")
        continue
      }
      try Violation.unless(address.hasPrefix("https://gw.example/"), "`\(address)` is not of the gateway")
      try Violation.unless(
        address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") },
        "`\(address)` has characters that browsers change")
    }
  }
}
