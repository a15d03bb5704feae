import OAuth
import Reactor
import Stores
import Time

/// The ids, tokens and times that all modes use. Each mode derives them from a number, so that another process can
/// verify the records of a file.
enum Load {
  static let workers = 2
  static let client = ClientID("mail")
  static let lease: Seconds = 20
  static let holder = StoreHolder(address: "127.0.0.1", isLoopback: true)
  static var now: UnixTime { SystemClock.unixTime() }

  /// Returns the id of a code or of a family, spread over the index like random ids.
  static func id(_ number: Int) -> TransactionID {
    var bytes = [UInt8](repeating: 0, count: 16)
    var state = UInt64(truncatingIfNeeded: number) &* 0x9e37_79b9_7f4a_7c15
    for index in 0..<16 {
      state ^= state >> 29
      state = state &* 0xbf58_476d_1ce4_e5b9
      bytes[index] = UInt8(truncatingIfNeeded: state >> 33)
    }
    guard let id = TransactionID(bytes: bytes) else { preconditionFailure("16 bytes are an id") }
    return id
  }

  /// Returns the use of a refresh token. A repeat of a used token is always a reuse.
  static func use(_ number: Int, generation: Int, epoch: EpochID) -> RefreshUse {
    let grant = RefreshGrant(
      family: id(number), generation: generation, epoch: epoch,
      binding: ClientBinding(clientID: client, scope: nil, upstreamClientID: client),
      upstreamRefreshToken: Secret("upstream"), issuedAt: now)
    var use = RefreshUse(grant, token: token(number, generation: generation), address: "127.0.0.1", isLoopback: true)
    use.idleLifetime = 3_600
    return use
  }

  static func token(_ number: Int, generation: Int) -> Secret { Secret("\(number)-\(generation)") }
}

/// One client on a worker.
final class Client: Activity {
  private let body: () async -> Void
  init(_ body: @escaping () async -> Void) { self.body = body }
  func run() async { await body() }
}

/// Writes a line without buffering, because the process may be killed.
func show(_ text: String) {
  if let output = try? LogFile(.standardOutput) { _ = output.write(Array((text + "\n").utf8)) }
}

func fail(_ text: String) -> Never {
  show("error: \(text)")
  ProcessControl.exitNow(1)
}
