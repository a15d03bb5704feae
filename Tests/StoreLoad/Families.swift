import Stores
import Telemetry
import Time

/// Families of refresh tokens in the memory of the process.
enum Families {
  /// Fills a store of the default size for this number of families. Shows the resident memory by which the process grew,
  /// as one JSON object.
  static func fill(_ count: Int) async {
    let size = 256 << 20
    let store = MemoryStore(size: size)
    // The value has the length of a record; its content does not matter.
    guard case .fixed(let length) = StoreKind.family.properties.size else { fail("a family has no fixed length") }
    let value = [UInt8](repeating: 1, count: length)
    let now = Load.now
    let before = resident()
    do throws(StoreError) {
      for number in 0..<count {
        let key = StoreKey(.family, id: Load.id(number))
        guard try await store.put(key, value, holder: Load.holder, expiry: now + 7_776_000, now: now) == nil else {
          fail("family \(number) exists")
        }
      }
    } catch {
      fail("\(error)")
    }
    let growth = resident() - before
    withExtendedLifetime(store) {}
    guard let usage = store.usage.first(where: { $0.kind == .family }) else { fail("no figures") }
    show("{\"families\": \(usage.entries), \"charged\": \(usage.bytes), \"resident\": \(growth)}")
  }

  /// The resident memory of this process in bytes.
  private static func resident() -> UInt64 {
    guard let bytes = ProcessFacts.current().residentBytes else { fail("no memory figures") }
    return bytes
  }
}
