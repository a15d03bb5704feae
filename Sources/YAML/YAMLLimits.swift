/// The size up to which a file is accepted, so that an untrusted file cannot exhaust memory.
public struct YAMLLimits: Sendable {
  /// The most levels of nesting. The policy format needs 6; in flow style the time of libyaml grows with the depth.
  public var depth: Int
  /// The most scalars and collections. 100,000 clients with 40 values each need 4 million; a node takes 16 bytes.
  public var nodes: Int
  /// The most bytes of a file. Offsets have 32 bits.
  public var bytes: Int

  /// Creates limits, by default 32 levels, 16 million nodes and 256 MiB.
  public init(depth: Int = 32, nodes: Int = 16_000_000, bytes: Int = 256 << 20) {
    self.depth = depth
    self.nodes = nodes
    self.bytes = bytes
  }
}
