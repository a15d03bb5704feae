internal import RESP
internal import Stores
internal import Time

/// The figures of one pass over the keys of the server: entries and bytes by kind.
///
/// The bytes are those of names and values. The values of some kinds have a fixed length. Of the other kinds, the pass
/// measures a few values in each step, and assumes their mean length for all values. The server may return a key twice
/// if its table grows during the pass, so the number of entries is approximate as well.
struct RedisTally {
  /// An entry whose length is to be measured.
  struct Sample {
    let kind: StoreKind
    let name: [UInt8]
  }

  private struct Figures {
    var entries = 0
    /// The number of measured values, and their bytes.
    var measured = 0
    var measuredBytes = 0
  }

  private let prefix: [UInt8]
  private var figures = [Figures](repeating: Figures(), count: StoreKind.allCases.count)

  /// Creates figures without an entry.
  ///
  /// - Parameter prefix: the beginning of all keys of the gateway. The reader of policies permits no character in it
  ///   that has a meaning in a pattern.
  init(prefix: [UInt8]) {
    self.prefix = prefix
  }

  /// The pattern of the names of entries: the prefix, the letter of a kind, a colon, and the rest.
  var pattern: [UInt8] { prefix + Array("?:*".utf8) }

  /// Counts the entries with these names. Returns those whose lengths the caller has to measure.
  mutating func add(_ names: [RESPReply]) -> [Sample] {
    var samples: [Sample] = []
    var sampled = [Int](repeating: 0, count: figures.count)
    for case .bytes(let name) in names {
      guard let kind = kind(of: name) else { continue }
      figures[kind.index].entries += 1
      guard case .upTo = kind.properties.size, sampled[kind.index] < RedisLimits.measuredValues else { continue }
      sampled[kind.index] += 1
      samples.append(Sample(kind: kind, name: name))
    }
    return samples
  }

  /// Adds the length of a measured value.
  mutating func add(length: Int, of kind: StoreKind) {
    figures[kind.index].measured += 1
    figures[kind.index].measuredBytes = figures[kind.index].measuredBytes.saturatingSum(length)
  }

  /// The figures of each kind.
  var usage: [StoreUsage] {
    StoreKind.allCases.map { kind in
      let counted = figures[kind.index]
      var usage = StoreUsage(kind)
      usage.entries = counted.entries
      usage.bytes = counted.entries * (prefix.count + RedisStore.nameLength)
      switch kind.properties.size {
      case .fixed(let length): usage.bytes += counted.entries * length
      case .upTo:
        // Without a measured value, all entries of the kind have expired since they were counted.
        // The server chooses the lengths, so the product may exceed an `Int`.
        if counted.measured > 0 {
          let measured = counted.measuredBytes.saturatingProduct(counted.entries) / counted.measured
          usage.bytes = usage.bytes.saturatingSum(measured)
        }
      }
      return usage
    }
  }

  /// Returns the kind in the name of an entry; `nil` for other keys, such as that of the epoch.
  private func kind(of name: [UInt8]) -> StoreKind? {
    guard name.count == prefix.count + RedisStore.nameLength, name.starts(with: prefix),
      name[prefix.count + 1] == UInt8(ascii: ":")
    else { return nil }
    return StoreKind(rawValue: name[prefix.count])
  }
}
