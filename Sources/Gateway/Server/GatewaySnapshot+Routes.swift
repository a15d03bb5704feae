import PathReading
import Policy
import Proxy

extension GatewaySnapshot {
  /// The routes of the policy for the proxy; `nil` if it has none.
  var passingRoutes: PassingRoutes? {
    guard !policy.routes.isEmpty else { return nil }
    let prefixes = PathPrefixes(policy.routes.map(\.prefix))
    return PassingRoutes(policy.routes.map(\.passingRoute)) { path in
      switch prefixes.match(path) {
      case .none: .none
      case .prefix(let index): .route(index)
      case .ambiguous: .ambiguous
      }
    }
  }
}

extension RouteSettings {
  fileprivate var passingRoute: PassingRoute {
    var route = PassingRoute()
    route.bodyLimit = bodyLimit
    route.requestBuffer = requestBuffer
    route.requestTimeout = requestTimeout
    route.bodyTimeout = bodyTimeout
    route.tunnelTimeout = tunnelTimeout
    route.responseTimeout = responseTimeout
    route.requestFields = requestHeaders.fieldChanges
    route.responseFields = responseHeaders.fieldChanges
    return route
  }
}

extension HeaderChanges {
  fileprivate var fieldChanges: FieldChanges {
    var changes = FieldChanges()
    changes.set = set.map { ($0.name, $0.value) }
    changes.removed = removed
    return changes
  }
}
