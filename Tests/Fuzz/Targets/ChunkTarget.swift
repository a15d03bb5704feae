import HTTP1

/// Input: a seed for split points, then a chunked body. The result is that of a simple reader, however the bytes
/// arrive.
enum ChunkTarget {
  private enum End: Equatable {
    case finished
    case incomplete
    case refused(Int)
  }

  private struct DecisionWithFindings: Equatable {
    var body: [UInt8] = []
    var consumed = 0
    var end = End.incomplete
  }

  static func check(_ input: [UInt8]) throws(Violation) {
    // Longer inputs would only reach the limits of extensions and trailers, which the reference does not have.
    guard let seed = input.first, input.count <= 4096 else { return }
    let wire = Array(input.dropFirst())
    let whole = decode(wire) { wire.count }
    try Violation.unless(decode(wire) { 1 } == whole, "another result byte by byte")
    var splits = Splits(seed: seed)
    try Violation.unless(decode(wire) { splits.next(limit: 9) } == whole, "another result in small pieces")
    try Violation.unless(decode(wire) { splits.next(limit: 300) } == whole, "another result in pieces")
    let expected = ChunkReader.read(wire)
    if whole.end == .finished {
      try Violation.unless(
        expected == ChunkReader.DecisionWithFindings(body: whole.body, consumed: whole.consumed),
        "the body is read in two ways")
    } else {
      try Violation.unless(expected == nil, "a whole body is not taken for one")
    }
  }

  private static func decode(_ wire: [UInt8], _ next: () -> Int) -> DecisionWithFindings {
    var decoder = BodyDecoder(.chunked)
    var outcome = DecisionWithFindings()
    var arrived = 0
    while !decoder.isFinished {
      if outcome.consumed == arrived {
        guard arrived < wire.count else { return outcome }
        arrived = min(wire.count, arrived + next())
      }
      let rest = outcome.consumed..<arrived
      do throws(MessageError) {
        let piece = try decoder.decode(wire.span.extracting(rest))
        outcome.body += wire[rest.lowerBound + piece.data.lowerBound..<rest.lowerBound + piece.data.upperBound]
        outcome.consumed += piece.consumed
      } catch {
        outcome.end = .refused(error.status)
        // The place of a refusal depends on how the bytes arrive; the refusal itself must not.
        outcome.consumed = 0
        return outcome
      }
    }
    outcome.end = .finished
    return outcome
  }
}
