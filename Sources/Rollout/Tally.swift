/// Counts of texts from a log. The number of different texts is bounded, because the log contains texts of attackers.
public struct Tally: Sendable {
  /// The number of occurrences of each text.
  public private(set) var counts: [String: Int] = [:]
  /// The number of occurrences of further texts, after the limit was reached.
  public private(set) var omitted = 0
  private let limit: Int

  /// Creates an empty tally for at most `limit` different texts.
  public init(limit: Int) { self.limit = limit }

  /// The number of occurrences of the text.
  public subscript(text: String) -> Int { counts[text] ?? 0 }

  /// The texts, the most frequent first, and equally frequent ones in alphabetical order.
  public var sorted: [(text: String, count: Int)] {
    counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
  }

  /// Counts a text once; does nothing for `nil`.
  public mutating func add(_ text: String?) {
    var room = Int.max
    add(text, &room)
  }

  /// Counts a text once; does nothing for `nil`.
  ///
  /// - Parameter room: The number of bytes that new texts may take.
  mutating func add(_ text: String?, _ room: inout Int) {
    guard let text else { return }
    if counts[text] == nil {
      guard counts.count < limit, text.utf8.count <= room else {
        omitted += 1
        return
      }
      room -= text.utf8.count
    }
    counts[text, default: 0] += 1
  }
}
