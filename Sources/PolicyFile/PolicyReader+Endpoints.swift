import Policy
import YAML

extension PolicyReader {
  func readEndpoints(_ field: Field) -> Endpoints {
    var endpoints = Endpoints(authorization: [], token: [])
    var named: Set<EndpointKey> = []
    var owners: [String: String] = [:]
    let isMapping = fields(field.node, named: "endpoints", EndpointKey.self) { key, field in
      named.insert(key)
      let paths = paths(field)
      for path in paths {
        if let owner = owners.updateValue(field.name, forKey: path) {
          error(
            .duplicateValue, field.node,
            "path \(quoted(path)) is both `\(owner)` and `\(field.name)`; a path is one endpoint")
        }
      }
      switch key {
      case .authorization: endpoints.authorization = paths
      case .token: endpoints.token = paths
      case .revocation: endpoints.revocation = paths
      case .introspection: endpoints.introspection = paths
      // Closed unless a client may push.
      case .pushedAuthorization: endpoints.pushedAuthorization = paths
      case .deviceAuthorization, .registration: endpoints.closed += paths
      }
    }
    guard isMapping else { return endpoints }
    for key in [EndpointKey.authorization, .token] where !named.contains(key) {
      missing(key, field.key, in: "`endpoints`", "its path, such as `/\(key == .token ? "token" : "authorize")`")
    }
    return endpoints
  }

  /// A path or a list of paths, each in the one spelling that every server reads alike.
  func paths(_ field: Field) -> [String] {
    var paths: [String] = []
    for item in list(field, orSingle: true) {
      guard let path = text(item) else { continue }
      if let problem = Self.pathProblem(path) {
        error(.invalidValue, item.node, "`\(field.name)` cannot be \(quoted(path)); \(problem)")
      } else if paths.contains(path) {
        error(.duplicateValue, item.node, "\(quoted(path)) occurs twice in `\(field.name)`; keep one")
      } else {
        paths.append(path)
      }
    }
    return paths
  }

  private static func pathProblem(_ path: String) -> String? {
    if path.contains("://") { return "use the path alone, the server is in `url`" }
    if !path.hasPrefix("/") { return "a path begins with `/`" }
    if path.contains("?") || path.contains("#") { return "use the path alone, without query or fragment" }
    let segments = path.split(separator: "/", omittingEmptySubsequences: false)
    if segments.dropFirst().dropLast().contains("") || path == "//" { return "write one slash, not two" }
    if segments.contains(".") || segments.contains("..") { return "write the path without dot segments" }
    if segments.count > 1, segments[1] == ".proofgate" { return "paths below `/.proofgate` are the gateway's own" }
    let isPlain = path.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/-._~!$&'()*+,=:@".utf8.contains(byte)
      }
    }
    return isPlain ? nil : "use letters, digits and `-._~/`, nothing percent-encoded and no `;`"
  }
}
