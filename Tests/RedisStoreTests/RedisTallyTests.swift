import Policy
import RESP
import Stores
import Testing

@testable import RedisStore

@Suite("The figures of the entries in Redis")
struct RedisTallyTests {
  @Test("Lengths that no value has give a figure, whatever the server answers")
  func lengths() throws {
    let store = RedisStore(try .init(url: "redis://127.0.0.1:1"))
    for length in [0, 1, 1 << 53, 1 << 62, Int.max] {
      var tally = RedisTally(prefix: store.prefix)
      let names = (0..<4).map { RESPReply.bytes(store.name(StoreKey(.state, hashing: [$0]))) }
      #expect(tally.add(names).count == 4)
      for _ in 0..<4 { tally.add(length: length, of: .state) }
      let usage = try #require(tally.usage.first { $0.kind == .state })
      #expect(usage.entries == 4)
      #expect(usage.bytes >= 4 * store.prefix.count)
    }
  }
}
