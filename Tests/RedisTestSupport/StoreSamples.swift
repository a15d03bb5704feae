public import Stores

extension StoreKey {
  /// A different key for each number.
  public static func sample(_ kind: StoreKind, _ number: Int = 1) -> StoreKey {
    StoreKey(kind, hashing: Array("\(number)".utf8))
  }
}

extension StoreKind {
  /// A value of the kind's length that depends on the number.
  public func sample(_ number: Int = 1) -> [UInt8] {
    switch properties.size {
    case .fixed(let length): [UInt8(truncatingIfNeeded: number)] + [UInt8](repeating: 0, count: length - 1)
    case .upTo: [UInt8(truncatingIfNeeded: number)]
    }
  }
}

extension StoreHolder {
  /// A different address for each number below 65,536.
  public static func sample(_ network: Int = 0) -> StoreHolder {
    StoreHolder(address: "10.\(network / 256).\(network % 256).1")
  }
}
