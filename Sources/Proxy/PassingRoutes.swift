public import Time

/// The settings of passing requests by path, in place of those of `ProxyConfiguration`.
public struct PassingRoutes: Sendable {
  /// The result of a search.
  public enum Match: Sendable {
    /// The path has no route.
    case none
    /// The path has the route with this index.
    case route(Int)
    /// Servers may read the path as paths of different routes.
    case ambiguous
  }

  /// The routes.
  public let routes: [PassingRoute]
  /// Returns the route of a path: the request target in front of the first question mark.
  public let find: @Sendable (Span<UInt8>) -> Match

  /// Creates a table of routes.
  public init(_ routes: [PassingRoute], find: @escaping @Sendable (Span<UInt8>) -> Match) {
    self.routes = routes
    self.find = find
  }
}

/// The settings of one route. `nil` means the value of `ProxyConfiguration`.
public struct PassingRoute: Sendable {
  /// The maximum length of a request body in bytes; `nil` for no limit.
  public var bodyLimit: Int?
  /// The value of `ProxyLimits.requestBuffer`.
  public var requestBuffer: Int?
  /// The value of `ProxyLimits.requestTimeout`.
  public var requestTimeout: Milliseconds?
  /// The value of `ProxyConfiguration.bodyTimeout`.
  public var bodyTimeout: Milliseconds?
  /// The value of `ProxyConfiguration.tunnelTimeout`.
  public var tunnelTimeout: Milliseconds?
  /// The value of `ProxyConfiguration.responseTimeout`.
  public var responseTimeout: Milliseconds?
  /// The changes to the fields of requests for the upstream.
  public var requestFields = FieldChanges()
  /// The changes to the fields of the upstream's responses.
  public var responseFields = FieldChanges()

  /// Creates a route without settings.
  public init() {}
}

/// Changes to the fields of a message. The names are ASCII letters, digits and hyphens; the caller has checked that the
/// proxy does not need the fields itself, and that names and values contain no control characters.
public struct FieldChanges: Sendable {
  /// The fields that replace all fields with their names.
  public var set: [(name: String, value: String)] = []
  /// The names of the fields to remove.
  public var removed: [String] = []

  /// Creates changes that change nothing.
  public init() {}
}

/// The routes with the values that each request uses.
final class CompiledRoutes: Sendable {
  private let routes: [CompiledRoute]
  private let find: @Sendable (Span<UInt8>) -> PassingRoutes.Match

  init(_ routes: PassingRoutes, _ configuration: ProxyConfiguration) {
    self.routes = routes.routes.map { CompiledRoute($0, configuration) }
    find = routes.find
  }

  /// Returns the route of a path; `nil` without one. Throws if servers may read the path as paths of different routes.
  func route(_ path: Span<UInt8>) throws(RouteRefusal) -> CompiledRoute? {
    switch find(path) {
    case .none: return nil
    case .route(let index): return routes[index]
    case .ambiguous: throw .ambiguousPath
    }
  }
}

/// The settings of one route. An exchange keeps its route until it ends, also over a reload.
final class CompiledRoute: Sendable {
  struct Fields: Sendable {
    /// The names of the fields to remove, including those to set, in lower case.
    let names: [String]
    let set: [(name: String, value: String)]
    /// The fields to set, one line each.
    let lines: [[UInt8]]

    init(_ changes: FieldChanges) {
      set = changes.set
      names = (changes.removed + changes.set.map(\.name)).map { $0.lowercased() }
      lines = changes.set.map { Array("\($0.name): \($0.value)\r\n".utf8) }
    }
  }

  let bodyLimit: Int
  let requestBuffer: Int
  let requestTimeout: Milliseconds
  let timeouts: ExchangeDeadlines.Settings
  let requestFields: Fields
  let responseFields: Fields

  init(_ route: PassingRoute, _ configuration: ProxyConfiguration) {
    let limits = configuration.limits
    bodyLimit = route.bodyLimit ?? .max
    requestBuffer = route.requestBuffer ?? limits.requestBuffer
    requestTimeout = route.requestTimeout ?? limits.requestTimeout
    timeouts = ExchangeDeadlines.Settings(
      progress: ProgressMeter.Limits(
        timeout: route.bodyTimeout ?? configuration.bodyTimeout, rate: limits.minimumRate, window: limits.rateWindow),
      tunnelTimeout: route.tunnelTimeout ?? configuration.tunnelTimeout,
      responseTimeout: route.responseTimeout ?? configuration.responseTimeout)
    requestFields = Fields(route.requestFields)
    responseFields = Fields(route.responseFields)
  }

  /// Throws if a body has more bytes than the route permits.
  ///
  /// - Parameter count: the announced length, or the number of bytes that have arrived.
  func checkBody(_ count: Int) throws(Exchange.Failure) {
    if count > bodyLimit { throw .bodyTooLarge(limit: bodyLimit) }
  }
}
