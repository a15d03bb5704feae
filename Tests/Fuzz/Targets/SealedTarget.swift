import OAuth
import Sealing
import Time

@testable import Gateway

/// Input: an operation, then a payload or a sealed text. An accepted payload has one canonical form; a sealed value opens
/// only for its purpose and issuer, and in no altered form.
enum SealedTarget {
  private static let ring = KeyRing.ephemeral(now: 1_795_000_000)

  static func check(_ input: [UInt8]) throws(Violation) {
    guard input.count > 2 else { return }
    let rest = Array(input.dropFirst(3))
    switch input[0] % 10 {
    case 0: try check(AuthorizationTransaction.self, rest, at: input[1...])
    case 1: try check(IssuedCode.self, rest, at: input[1...])
    case 2: try check(RefreshGrant.self, rest, at: input[1...])
    case 6: try check(AccessTokenRecord.self, rest, at: input[1...])
    case 4: try check(DeviceCode.self, rest, at: input[1...])
    case 5: try check(DeviceFlow.self, rest, at: input[1...])
    case 7: try check(DeviceEntryToken.self, rest, at: input[1...])
    case 8: try check(DeviceApprovalToken.self, rest, at: input[1...])
    case 9: try check(ClientRegistration.self, rest, at: input[1...])
    default: try checkForeign(String(decoding: rest, as: UTF8.self))
    }
  }

  private static func check<Value: Sealable>(
    _ type: Value.Type, _ payload: [UInt8], at place: ArraySlice<UInt8>
  ) throws(Violation) {
    var reader = PayloadReader(payload)
    guard let value = try? Value(from: &reader), (try? reader.finish()) != nil else { return }
    let sealer = Sealer(keyRing: ring, issuer: "https://id.example.com")
    let text = sealer.seal(value)
    guard let once = try? sealer.open(text, as: Value.purpose) else { throw Violation("what was sealed does not open") }
    // The same value, which may be shorter: repeated content is omitted.
    guard let again = try? sealer.open(type, from: text),
      let twice = try? sealer.open(sealer.seal(again), as: Value.purpose)
    else { throw Violation("a payload that was accepted is refused when it is written again") }
    // A payload of an earlier layout is written in the current one, which may be longer.
    let isEarlierLayout = once.first != payload.first
    try Violation.unless(
      once == twice && (isEarlierLayout || once.count <= payload.count), "a payload has two canonical forms")

    for purpose in Purpose.allCases where purpose != Value.purpose {
      try Violation.unless((try? sealer.open(text, as: purpose)) == nil, "opens as \(purpose)")
    }
    let elsewhere = Sealer(keyRing: ring, issuer: "https://id.example.org")
    try Violation.unless((try? elsewhere.open(text, as: Value.purpose)) == nil, "opens for another issuer")
    let altered = alter(Array(text.utf8), at: place)
    try Violation.unless(
      altered == Array(text.utf8)
        || (try? sealer.open(String(decoding: altered, as: UTF8.self), as: Value.purpose)) == nil,
      "an altered value opens")
  }

  /// Replaces, removes or adds a character at the place that the input gives.
  private static func alter(_ text: [UInt8], at place: ArraySlice<UInt8>) -> [UInt8] {
    var text = text
    let (high, low) = (place.first ?? 0, place.last ?? 0)
    let index = (Int(high) << 8 | Int(low)) % text.count
    switch low % 3 {
    case 0: text[index] = high
    case 1: text.remove(at: index)
    default: text.insert(high, at: index)
    }
    return text
  }

  /// A value that was not sealed does not open.
  private static func checkForeign(_ text: String) throws(Violation) {
    let sealer = Sealer(keyRing: ring, issuer: "https://id.example.com")
    for purpose in Purpose.allCases {
      try Violation.unless((try? sealer.open(text, as: purpose)) == nil, "a value that was never sealed opens")
    }
  }
}
