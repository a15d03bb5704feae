internal import ByteText
import OAuth
import Policy

/// An http or https URL in a metadata document, parsed strictly: only visible ASCII, no userinfo, no fragment and no
/// backslash.
package struct MetadataURL: Sendable, Equatable {
  package let origin: Origin
  /// The path and the query. The path begins with a slash.
  package let target: String

  package init?(parsing text: String) {
    guard text.utf8.count <= 2_048,
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "#") }),
      let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"),
      let scheme = Origin.Scheme(rawValue: text[..<colon].lowercased())
    else { return nil }
    let rest = text[colon...].dropFirst(3)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    let host: Substring
    let afterHost: Substring
    if authority.hasPrefix("[") {
      host = authority.dropFirst().prefix { $0 != "]" }
      guard authority.dropFirst(host.count + 1).hasPrefix("]"),
        host.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
      else { return nil }
      afterHost = authority.dropFirst(host.count + 2)
    } else {
      host = authority.prefix { $0 != ":" }
      guard host.utf8.allSatisfy({ $0.isLetterOrDigit || "-._".utf8.contains($0) }) else { return nil }
      afterHost = authority.dropFirst(host.count)
    }
    guard !host.isEmpty else { return nil }
    var port: Int?
    if !afterHost.isEmpty {
      let digits = afterHost.dropFirst()
      guard afterHost.hasPrefix(":"), (1...5).contains(digits.count), digits.utf8.allSatisfy(\.isDigit),
        let number = Int(digits), (1...65_535).contains(number)
      else { return nil }
      port = number
    }
    origin = Origin(scheme: scheme, host: host.lowercased(), port: port)
    let target = rest.dropFirst(authority.count)
    self.target = target.hasPrefix("/") ? String(target) : "/" + target
  }

  /// The path.
  package var path: String { String(target.prefix { $0 != "?" }) }

  /// True if the host is a name of the public DNS, so that every client can resolve it and it reveals nothing about the
  /// operator's network.
  var isPublic: Bool {
    let labels = origin.host.split(separator: ".", omittingEmptySubsequences: false)
    guard origin.scheme == .https, labels.count >= 2, let last = labels.last,
      labels.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") } }),
      !ClientDocumentURL.isAddress(origin.host)
    else { return false }
    return !MetadataURL.privateDomains.contains(last)
  }

  /// The top-level domains that are not in the public DNS (RFC 6761, RFC 6762, RFC 8375 and common practice).
  private static let privateDomains: Set<Substring> = [
    "arpa", "corp", "home", "internal", "intranet", "invalid", "lan", "local", "localdomain", "localhost", "onion",
    "private", "test",
  ]
}
