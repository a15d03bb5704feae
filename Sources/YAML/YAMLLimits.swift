/// The limits on a file, so that an untrusted file cannot exhaust memory.
public struct YAMLLimits: Sendable {
  /// The maximum number of levels of nesting. The policy format needs 6. Without a limit, a file could take very long
  /// to parse, because the time that libyaml takes for a node in flow style (`[...]`, `{...}`) grows with the depth.
  public var depth: Int
  /// The maximum number of nodes. 100,000 clients with 40 nodes each need 4 million. A node takes 16 bytes in addition
  /// to its text.
  public var nodes: Int
  /// The maximum number of bytes of a file. It must be less than 4 GiB, because offsets have 32 bits.
  public var bytes: Int

  /// Creates limits, by default 32 levels, 16 million nodes and 256 MiB.
  public init(depth: Int = 32, nodes: Int = 16_000_000, bytes: Int = 256 << 20) {
    self.depth = depth
    self.nodes = nodes
    self.bytes = bytes
  }
}
