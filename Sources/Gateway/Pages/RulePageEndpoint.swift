import Enforcement
import HTTP
import Policy

/// The pages that explain the rules. An error response names the page of its rule, so that an app developer who has only
/// the response finds the reason and the remedy.
struct RulePageEndpoint {
  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  /// The path of the list, and those of the pages.
  static let paths: [String] = [GatewaySettings.rulesPath] + rejections.keys.sorted()

  /// The rejections by the paths of their pages.
  private static let rejections: [String: Rejection] = Dictionary(
    Rejection.subjects.flatMap(\.rejections).map { ("\(GatewaySettings.rulesPath)/\($0.ruleID)", $0) },
    uniquingKeysWith: { first, _ in first })

  func respond() -> Response {
    guard ["GET", "HEAD"].contains(intercepted.request.method) else {
      intercepted.trail.recordRefusal(.methodNotAllowed)
      var response = intercepted.pages.error(ErrorPage(.methodNotAllowed))
      response.headers.set("Allow", "GET, HEAD")
      return response
    }
    // `EndpointMatcher` found the path among `paths`, so a path without a rejection is that of the list.
    let rejection = RulePageEndpoint.rejections[String(intercepted.request.path)]
    return rejection.map(intercepted.pages.rule) ?? intercepted.pages.ruleList()
  }
}
