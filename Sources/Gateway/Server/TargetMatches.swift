internal import ByteText
import Cryptography
import PathReading

/// The results of the latest readings of expensive targets, of one worker under one policy.
///
/// With the header compression of HTTP/2 (RFC 7541), a client repeats a target of several KiB with a few bytes, and reading
/// it may take 8,000,000 instructions. A repeated target is therefore not read again. The digests of the targets are
/// compared, not the targets: these may contain codes and passwords, and would have to be wiped. SHA-256 is
/// needed because a collision would give a target the result of another one. The random seed prevents that a client
/// chooses targets which displace those of other clients.
struct TargetMatches {
  /// The number of entries: more than the connections on which one worker gets such targets at the same time.
  private static let count = 256

  struct Entry {
    let digest: [UInt8]
    let match: PathMatch
  }

  private let seed: [UInt8]
  /// The place of an entry is the first byte of its digest; empty until the first target.
  private(set) var entries: [Entry?] = []

  init(_ random: RandomPool) {
    seed = random.take(16)
  }

  /// Returns the result of the last reading of this target, or of `read`.
  ///
  /// - Parameters:
  ///   - path: the text in front of the first question mark.
  ///   - query: the text after the question mark; empty without one.
  mutating func match(
    path: Span<UInt8>, query: Span<UInt8>, read: (_ path: Span<UInt8>, _ query: Span<UInt8>) -> PathMatch
  ) -> PathMatch {
    var target: [UInt8] = []
    target.reserveCapacity(seed.count + path.count + 1 + query.count)
    target += seed
    target.append(copying: path)
    // A path has no question mark, so no other pair of path and query gives the same bytes.
    target.append(UInt8(ascii: "?"))
    target.append(copying: query)
    let digest = sha256(target)
    wipe(&target)
    guard let place = digest.first.map({ Int($0) }) else { return read(path, query) }
    if entries.isEmpty { entries = Array(repeating: nil, count: TargetMatches.count) }
    if let entry = entries[place], entry.digest == digest { return entry.match }
    let match = read(path, query)
    entries[place] = Entry(digest: digest, match: match)
    return match
  }
}
