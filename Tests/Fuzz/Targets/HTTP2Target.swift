import HTTP1
import HTTP2
import HTTP2TestSupport
import Reactor
import Time

/// Input: a mode, then raw frames after the preface, or field sections as text, which are written as frames. Whatever
/// the client sends, a stream is read as at most one HTTP/1.1 request, and every buffer is released.
enum HTTP2Target {
  static func check(_ input: [UInt8]) throws(Violation) {
    guard let mode = input.first, input.count <= 16_384 else { return }
    let rest = Array(input.dropFirst())
    let buffers = BufferPool(reserve: 0)
    try serve(Frame.preface + Frame.settings().bytes + (mode & 1 == 0 ? rest : sections(rest)), mode, buffers)
    try Violation.unless(buffers.inUse == 0, "\(buffers.inUse) buffers are not given back")
  }

  /// Requests are separated by fe and their fields by ff; a body follows fd; a field is a name, a zero byte and a
  /// value.
  private static func sections(_ text: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    var stream = 1
    for section in text.split(separator: 0xfe) {
      let parts = section.split(separator: 0xfd, maxSplits: 1, omittingEmptySubsequences: false)
      var fields: [([UInt8], [UInt8])] = []
      for line in parts[0].split(separator: 0xff) {
        let pair = line.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        fields.append((Array(pair[0]), pair.count > 1 ? Array(pair[1]) : []))
      }
      let body = parts.count > 1 ? Array(parts[1]) : []
      bytes +=
        Frame(
          .headers, flags: Frame.endHeaders | (body.isEmpty ? Frame.endStream : 0), stream: stream,
          payload: FieldWriter.write(fields)
        ).bytes
      if !body.isEmpty { bytes += Frame(.data, flags: Frame.endStream, stream: stream, payload: body).bytes }
      stream += 2
    }
    return bytes
  }

  private static func serve(_ wire: [UInt8], _ mode: UInt8, _ buffers: BufferPool) throws(Violation) {
    guard let session = HTTP2Session(HTTP2Limits(), keepsTrailers: true, buffers) else { return }
    let step = mode & 2 == 0 ? wire.count : 7
    var streams: [HTTP2Stream] = []
    var texts: [Int32: [UInt8]] = [:]
    var position = 0
    while position < wire.count {
      let end = min(wire.count, position + step)
      let failed = receive(session, wire[position..<end])
      position = end
      session.takeChangedStreams { stream in
        if !stream.isRefused, !streams.contains(where: { $0 === stream }) { streams.append(stream) }
      }
      for stream in streams where !stream.isTooLarge { read(session, stream, buffers, &texts[stream.id, default: []]) }
      drain(session, buffers)
      if failed { break }
    }
    for stream in streams where !stream.isTooLarge {
      try checkRequest(
        texts[stream.id] ?? [], headLength: stream.headLength,
        isWhole: stream.requestEnded && !stream.isRefused && !stream.isClosed)
    }
  }

  private static func receive(_ session: HTTP2Session, _ bytes: ArraySlice<UInt8>) -> Bool {
    do throws(HTTP2Failure) {
      try session.receive(Array(bytes).span, now: 0)
      return false
    } catch {
      return true
    }
  }

  private static func read(
    _ session: HTTP2Session, _ stream: HTTP2Stream, _ buffers: BufferPool, _ text: inout [UInt8]
  ) {
    if stream.isClosed || stream.isRefused { return }
    guard let buffer = buffers.take() else { return }
    defer { buffers.giveBack(buffer) }
    while let count = session.read(stream, into: buffer), count > 0 {
      text += buffer.bytes(from: 0, count: buffer.count)
      buffer.clear()
    }
  }

  private static func drain(_ session: HTTP2Session, _ buffers: BufferPool) {
    guard let buffer = buffers.take() else { return }
    defer { buffers.giveBack(buffer) }
    while session.wantsToSend {
      try? session.produce(into: buffer)
      if buffer.isEmpty { return }
      buffer.clear()
    }
  }

  /// Exactly one head, of the reported length, in which no byte ends a line early, and a body that ends where the text
  /// ends.
  private static func checkRequest(_ text: [UInt8], headLength: Int?, isWhole: Bool) throws(Violation) {
    if text.isEmpty { return }
    var scanner = HeadScanner()
    let length = try? scanner.end(of: text.span)
    guard let length else { throw Violation("no head in what is read of a stream") }
    try Violation.unless(headLength == length, "a wrong length of the head")
    let lines = text[..<length].split(separator: 0x0a, omittingEmptySubsequences: false).dropLast()
    try Violation.unless(lines.allSatisfy { $0.last == 0x0d && !$0.dropLast().contains(0x0d) }, "a bare line end")
    try Violation.unless(lines.dropLast().allSatisfy { $0.count > 1 }, "an empty line within the head")
    let index = HeadIndex()
    guard let head = try? RequestHeadParser.parse(text.span, length: length, into: index) else { return }
    var decoder = BodyDecoder(head.body)
    var position = length
    while !decoder.isFinished, position < text.count {
      guard let piece = try? decoder.decode(text.span.extracting(position..<text.count)) else {
        throw Violation("a body that cannot be read")
      }
      if piece.consumed == 0 { break }
      position += piece.consumed
    }
    try Violation.unless(position == text.count, "bytes behind the request")
    try Violation.unless(decoder.isFinished || !isWhole, "a whole request whose body does not end")
  }
}
