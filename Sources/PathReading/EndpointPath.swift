internal import ByteText

/// An endpoint path, as it is compared with the readings of request paths: without the segments up to and including the
/// last program, because a program that reads path information reads `/index.php/authorize` as `/authorize`.
struct EndpointPath: Sendable {
  /// The segments; empty for the root.
  let names: [SegmentName]

  /// Reads an endpoint path.
  ///
  /// - Parameter removingSuffix: True to remove the suffix of the last segment. Some frameworks read `authorize.json` as
  ///   `authorize` and select a format by the suffix.
  init(_ path: [UInt8], removingSuffix: Bool) {
    let path = CanonicalPath(text: LenientDecoding.decoded(path))
    var segments = path.segments.map { path.bytes(of: $0) }
    if removingSuffix, let last = segments.last, let period = last.firstIndex(of: UInt8(ascii: ".")),
      period > last.startIndex
    {
      segments[segments.count - 1] = last[..<period]
    }
    if let program = segments.lastIndex(where: CanonicalPath.isProgram), program < segments.count - 1 {
      segments.removeFirst(program + 1)
    }
    names = segments.map { SegmentName(Array($0)) }
  }
}
