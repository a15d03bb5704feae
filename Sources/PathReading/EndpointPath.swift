internal import ByteText

/// An endpoint path, as it is compared with the readings of request paths: without the segments up to and including the
/// last program, because a program that reads path information reads `/index.php/authorize` as `/authorize`.
struct EndpointPath: Sendable {
  /// The segments; empty for the root.
  let names: [SegmentName]
  /// The letters and digits of the last segment.
  let lastLetters: LetterPrefilter

  private init(_ segments: some Sequence<ArraySlice<UInt8>>) {
    names = segments.map { SegmentName(Array($0)) }
    lastLetters = LetterPrefilter(names.last?.letters ?? [])
  }

  /// Reads an endpoint path.
  ///
  /// - Parameter removingSuffix: True to remove the suffix of the last segment. Some frameworks read `authorize.json` as
  ///   `authorize` and select a format by the suffix.
  init(_ path: [UInt8], removingSuffix: Bool) {
    let path = CanonicalPath(text: LenientDecoding.decoded(path))
    var segments = path.segments.map { path.bytes(of: $0) }
    if removingSuffix, let last = segments.last { segments[segments.count - 1] = EndpointPath.withoutSuffix(last) }
    if let program = EndpointPath.program(in: segments) { segments.removeFirst(program + 1) }
    self.init(segments)
  }

  /// The endpoint path with the names of its programs, but without their suffixes; `nil` if it has no program in front of
  /// its last segment. A server that negotiates content runs `oauth.php` for `/oauth/token`.
  static func namingPrograms(_ path: [UInt8]) -> EndpointPath? {
    let path = CanonicalPath(text: LenientDecoding.decoded(path))
    let segments = path.segments.map { path.bytes(of: $0) }
    guard program(in: segments) != nil else { return nil }
    return EndpointPath(
      segments.indices.map { index in
        let segment = segments[index]
        return CanonicalPath.isProgram(segment) || index == segments.count - 1 ? withoutSuffix(segment) : segment
      })
  }

  /// True if the endpoint path has a program in front of its last segment that is not the front controller of a site. Such a
  /// program may also read the rest of the endpoint path from a query, whatever the name of the parameter.
  static func hasProgramOfItsOwn(_ path: [UInt8]) -> Bool {
    let path = CanonicalPath(text: LenientDecoding.decoded(path))
    let segments = path.segments.map { path.bytes(of: $0) }
    return program(in: segments).map { !CanonicalPath.isFrontController(segments[$0]) } ?? false
  }

  private static func program(in segments: [ArraySlice<UInt8>]) -> Int? {
    segments.dropLast().lastIndex(where: CanonicalPath.isProgram)
  }

  private static func withoutSuffix(_ segment: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let period = segment.firstIndex(of: UInt8(ascii: ".")), period > segment.startIndex else { return segment }
    return segment[..<period]
  }
}
