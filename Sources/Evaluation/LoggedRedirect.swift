import ByteText
import OAuth
import Policy

/// The redirect URI of a logged request, next to those that the policy registers for its client. It is for the operator
/// only, as ``RedirectComparison`` is.
struct LoggedRedirect: Sendable, Equatable, Encodable {
  /// The redirect URI of the request without query, fragment and loopback port; `nil` if the line does not have it.
  let requested: String?
  /// The registered URIs, at most ``limit``.
  let registered: [String]
  /// The number of the most similar registered URI, from 1; `nil` if there is none.
  let number: Int?
  /// The most similar registered URI, without the parts that the log leaves out.
  let nearest: String?
  /// The offset in bytes at which `requested` and `nearest` differ; `nil` if they differ only in parts that the log
  /// leaves out.
  let offset: Int?

  /// The maximum number of registered URIs that are shown.
  static let limit = 20

  /// Compares the redirect URI of a line; `nil` if no rule about the redirect URI refused it.
  init?(_ line: LoggedDecision, _ client: Client) {
    guard line.rule?.hasPrefix("redirect-uri-") ?? false, !client.redirectURIs.isEmpty else { return nil }
    requested = line.redirectURI
    registered = client.redirectURIs.prefix(LoggedRedirect.limit).map(\.text)
    let parsed = line.redirectURI.flatMap { $0 == "malformed" ? nil : $0 }
    if let parsed {
      // The comparison leaves out the same parts as the log.
      let offsets = client.redirectURIs.map { RedirectURI.firstDifference(parsed, $0.address) ?? .max }
      let best = offsets.indices.max { (offsets[$0], $1) < (offsets[$1], $0) } ?? 0
      number = best + 1
      nearest = client.redirectURIs[best].address
      offset = offsets[best] == .max ? nil : offsets[best]
    } else if let (number, offset) = LoggedRedirect.difference(in: line.findings), number >= 1,
      number <= client.redirectURIs.count, offset >= 1
    {
      // A line of an earlier version has the place of the difference, but not the URI.
      self.number = number
      nearest = client.redirectURIs[number - 1].text
      self.offset = offset - 1
    } else {
      (number, nearest, offset) = (nil, nil, nil)
    }
  }

  /// Returns the numbers of the finding `redirect-uri-differs:NUMBER:BYTE`.
  private static func difference(in findings: [String]) -> (number: Int, offset: Int)? {
    let prefix = "redirect-uri-differs:"
    guard let finding = findings.first(where: { $0.hasPrefix(prefix) }) else { return nil }
    let numbers = finding.dropFirst(prefix.count).split(separator: ":").map { Int($0) }
    guard numbers.count == 2, let number = numbers[0], let offset = numbers[1] else { return nil }
    return (number, offset)
  }

  /// The comparison as text, with a mark under the first difference.
  var text: String {
    var text = "redirect URI (the log leaves out its query and the port of a loopback URI)\n"
    if let requested { text += "  requested   \(requested.visible)\n" }
    if let nearest, let number {
      text += "  registered  \(nearest)\n"
      if let offset {
        let space = String(decoding: nearest.utf8.prefix(offset), as: UTF8.self).count
        text +=
          "              \(String(repeating: " ", count: space))^ differs here from redirect URI number \(number)\n"
      } else {
        text += "              equal to redirect URI number \(number), except for the parts that the log leaves out\n"
      }
    }
    text += "  registered for the client:\n"
    for (index, uri) in registered.enumerated() { text += "    \(index + 1)  \(uri)\n" }
    return text
  }
}
