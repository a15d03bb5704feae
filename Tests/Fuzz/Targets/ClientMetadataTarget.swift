import OAuth
import Sealing
import Time

@testable import Gateway

/// Input: the body of a registration request. Accepted metadata is within its bounds, and survives sealing unchanged.
enum ClientMetadataTarget {
  private static let sealed = KeyRing.ephemeral(now: UnixTime(seconds: 0)).registration

  static func check(_ input: [UInt8]) throws(Violation) {
    guard let members = try? ClientMetadata.members(json: input),
      let metadata = try? ClientMetadata(members, permits: { _, _ in true })
    else { return }
    try Violation.unless(
      (1...ClientMetadata.maximumRedirectURIs).contains(metadata.redirectURIs.count), "too many or no redirect URIs")
    try Violation.unless(Set(metadata.redirectURIs).count == metadata.redirectURIs.count, "a redirect URI twice")
    if let name = metadata.name {
      try Violation.unless(ClientMetadata.isDisplayable(name), "a name is not displayable")
    }
    let canonical = metadata.canonical
    try Violation.unless(canonical.canonical == canonical, "the canonical form changes again")
    guard let sealed else { throw Violation("no registration key") }
    let sealer = Sealer(keyRing: sealed, issuer: "https://gw.example")
    let instance = input.count.isMultiple(of: 2) ? nil : Array((input + Array(repeating: 0, count: 16)).prefix(16))
    let registration = ClientRegistration(
      metadata: canonical, quarter: CalendarQuarter(number: 227), instance: instance)
    let text = sealer.seal(idempotently: registration)
    try Violation.unless(sealer.seal(idempotently: registration) == text, "two ids for the same metadata")
    let opened = try? sealer.open(ClientRegistration.self, from: text)
    try Violation.unless(opened == registration, "a registration changes when it is sealed")
  }
}
