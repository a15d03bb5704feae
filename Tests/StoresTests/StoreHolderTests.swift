import Stores
import Testing

@Suite("Holders of entries")
struct StoreHolderTests {
  @Test(
    "Addresses of one site have one holder",
    arguments: [
      ("192.0.2.1", "192.0.2.254"), ("2001:db8:0:ff00::1", "2001:db8:0:ffff::1"), ("::ffff:192.0.2.1", "192.0.2.9"),
      ("::ffff:c000:201", "192.0.2.9"),
    ])
  func same(one: String, other: String) {
    #expect(StoreHolder(address: one) == StoreHolder(address: other))
  }

  @Test(
    "Addresses of different sites have different holders",
    arguments: [
      ("192.0.2.1", "192.0.3.1"), ("2001:db8:0:fe00::1", "2001:db8:0:ff00::1"), ("::1", "2001:db8::1"),
      ("gateway", "other"),
    ])
  func different(one: String, other: String) {
    #expect(StoreHolder(address: one) != StoreHolder(address: other))
  }
}
