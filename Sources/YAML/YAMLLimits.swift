/// How much of a file is read before it is refused: a file that someone else wrote must not exhaust memory.
public struct YAMLLimits: Sendable {
  /// Levels of nesting. The policy format needs 6; libyaml's cost grows with depth in flow style.
  public var depth: Int
  /// Scalars and collections. 100,000 clients with 40 values each are 4 million; a node takes 16 bytes.
  public var nodes: Int
  /// Bytes. Offsets are kept in 32 bits.
  public var bytes: Int

  public init(depth: Int = 32, nodes: Int = 16_000_000, bytes: Int = 256 << 20) {
    self.depth = depth
    self.nodes = nodes
    self.bytes = bytes
  }
}
