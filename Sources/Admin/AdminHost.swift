import Reactor

/// The names by which requests may reach the admin listener.
///
/// A website can let a name of its own resolve to the address of the listener (DNS rebinding). The browser of a user in the
/// operator's network then reads the status for the website, and sends this name as `Host`. So a name is accepted only if no
/// website can have it, or if the policy lists it (docs/adr/0037).
enum AdminHost {
  /// The last parts of names that are not in the public DNS: names of the machine (RFC 6761), of Kubernetes services (also
  /// without the domain of the cluster), of multicast DNS (RFC 6762), and of private networks (ICANN resolution 2024.07.29.06).
  private static let privateDomains: Set<Substring> = ["localhost", "svc", "local", "internal"]

  /// The response to a request with another name.
  static let advice =
    "this name is not accepted, because a website could have it; use an address, a name without a period or below "
    + "`svc`, `local` or `internal`, or list the name in `gateway.admin_hosts`"

  /// Returns true if a request may have this `Host`.
  ///
  /// - Parameter listed: The names in the policy. One that begins with a period means all names below it.
  static func isAcceptable(_ host: String?, listed: [String]) -> Bool {
    guard let host, !host.hasPrefix("[") else { return true }
    var name = host.prefix { $0 != ":" }.lowercased()[...]
    if name.hasSuffix(".") { name = name.dropLast() }
    if Address(literal: String(name), port: 0) != nil { return true }
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    guard let last = labels.last, labels.count > 1 else { return true }
    if privateDomains.contains(last) { return true }
    return listed.contains { entry in
      entry.hasPrefix(".") ? name.hasSuffix(entry) && name.count > entry.count : name == entry[...]
    }
  }
}
