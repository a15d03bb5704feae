import JSON
import Policy

@testable import Gateway

/// Input: the metadata document of the upstream. The gateway's document keeps the gateway's issuer, has no empty list,
/// names no URL of the upstream, and is read again as it was written.
enum MetadataTarget {
  private static let gateway = Origin(scheme: .https, host: "gw.example")
  private static let upstream = Origin(scheme: .http, host: "10.0.0.5", port: 8_080)
  private static let policy = Policy(
    gateway: GatewaySettings(origin: gateway, issuer: "https://gw.example/t/", listeners: [], admin: nil),
    upstream: UpstreamSettings(
      origin: upstream, endpoints: EndpointPaths(authorization: ["/authorize"], token: ["/token"])),
    unknownClients: .reject, mode: .enforce, clients: [:], version: "")

  static func check(_ input: [UInt8]) throws(Violation) {
    guard let document = UpstreamMetadata(parsing: input) else { return }
    let exposed = ExposedMetadata(
      document, gateway: gateway, upstream: upstream, endpoints: policy.upstream.endpoints
    ) { !$0.contains("token") }
    let own = OfferedCapabilities(policy: policy).members(preferring: exposed.endpointPaths)
    let members = exposed.members.merging(own) { _, own in own }
    let served = PublicDocument(members)
    guard let again = JSONValue.members(of: served.bytes) else { throw Violation("what is written is refused") }
    try Violation.unless(again == members, "what is written is read in another way")
    try Violation.unless(again["issuer"] == .string("https://gw.example/t/"), "another issuer")
    try Violation.unless(again["signed_metadata"] == nil, "signed metadata")
    var hidden = ["//10.0.0.5"]
    if let url = document.endpoints["token_endpoint"], url.path == "/token", url.origin.host != gateway.host {
      hidden.append("//" + url.origin.host)
    }
    for (name, value) in again {
      for text in try texts(in: value, of: name) {
        let isHidden = hidden.contains { names($0, in: text.lowercased()) }
        try Violation.unless(!isHidden, "`\(name)` names the upstream")
      }
    }
  }

  /// Returns true if the text has the host, and not only as the beginning of a longer name.
  private static func names(_ host: String, in text: String) -> Bool {
    text.ranges(of: host).contains { range in
      text[range.upperBound...].first.map { !($0.isLetter || $0.isNumber || "-_.".contains($0)) } ?? true
    }
  }

  private static func texts(in value: JSONValue, of name: String) throws(Violation) -> [String] {
    switch value {
    case .string(let text): return [text]
    case .bool: return []
    case .array(let values):
      try Violation.unless(!values.isEmpty, "`\(name)` is empty")
      return values.compactMap(\.text)
    case .null, .integer, .number, .object: throw Violation("`\(name)` has an unexpected form")
    }
  }
}
