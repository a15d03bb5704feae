/// One way in which a server that runs a program may read a path: some of its first segments, and the segments from some
/// place on.
struct PathReading {
  private let path: CanonicalPath
  private let kept: Int
  private let rest: Int

  /// Creates the reading that consists of the first `kept` segments of a path and those from `rest` on.
  init(_ path: CanonicalPath, keeping kept: Int, from rest: Int) {
    self.path = path
    self.kept = kept
    self.rest = rest
  }

  /// The number of segments.
  var count: Int { kept + path.segments.count - rest }

  private func segment(_ index: Int) -> PathSegment { path.segments[index < kept ? index : index - kept + rest] }

  /// True if the first segment has exactly these bytes.
  func begins(with name: [UInt8]) -> Bool { count > 0 && path.equals(segment(0), name) }

  private func isRead(at index: Int, as name: SegmentName) -> Bool { path.isRead(segment(index), as: name) }

  /// True if a server may serve a request for this path at `endpoint`: some server reads the first segments of this
  /// path as the segments of the endpoint path. This path may have more segments, as in `/token/x`, `/token.php/x` and
  /// `/token/.json`. The server may pass these segments to the program as path information, or select a format by their
  /// suffix.
  ///
  /// - Parameter offset: The number of segments of the endpoint path that the server takes from elsewhere.
  func mayBeServed(by endpoint: EndpointPath, from offset: Int = 0) -> Bool {
    let wanted = endpoint.names.count - offset
    guard wanted > 0, count >= wanted else { return false }
    return (0..<wanted).allSatisfy { isRead(at: $0, as: endpoint.names[offset + $0]) }
  }

  /// True if this path begins with the endpoint path, including the suffix of the endpoint path. The last segment of
  /// the endpoint path may be only the beginning of a segment of this path, as in `/oauth/tokenx`. A server that
  /// compares only the beginning of a path serves such a path at the endpoint.
  func begins(like endpoint: EndpointPath) -> Bool {
    let last = endpoint.names.count - 1
    guard last >= 0, count > last else { return false }
    return path.begins(segment(last), like: endpoint.names[last])
      && (0..<last).allSatisfy { isRead(at: $0, as: endpoint.names[$0]) }
  }

  /// The first segment of well-known paths (RFC 8615).
  static let wellKnown = SegmentName(Array(".well-known".utf8))

  /// True if this path has a well-known path with one of these names behind its first segment.
  func hasWellKnownPathBelowFolder(_ names: [SegmentName]) -> Bool {
    guard !names.isEmpty, count > 2 else { return false }
    return (1..<count - 1).contains { index in
      isRead(at: index, as: PathReading.wellKnown) && names.contains { isRead(at: index + 1, as: $0) }
    }
  }
}
