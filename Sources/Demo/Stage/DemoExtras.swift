/// The participants of the demo in addition to the native app.
public struct DemoExtras: OptionSet, Sendable {
  /// The bits of the set.
  public let rawValue: UInt8

  /// Creates a set from its bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// A device without a browser, which uses the device grant (RFC 8628).
  public static let device = DemoExtras(rawValue: 1)
  /// An agent that registers itself (RFC 7591).
  public static let agent = DemoExtras(rawValue: 2)
}
