/// An upstream that records every request byte for byte, answers each with 200, and checks it as the strictest server
/// would.
enum DesyncUpstream {
  /// The prefix of a note about an incomplete request.
  static let cut = "cut: "

  static let script: ScriptedUpstream.Script = { upstream, peer in
    var raw: [UInt8] = []
    do {
      while true {
        raw = []
        raw = try await peer.take(through: "\r\n\r\n")
        let head = Message(head: String(decoding: raw, as: UTF8.self))
        if head["Transfer-Encoding"] != nil {
          try await takeChunks(peer, into: &raw)
        } else if let length = head["Content-Length"].flatMap({ Int($0) }) {
          while raw.count < head.head.utf8.count + length { raw += try await peer.take(count: 1) }
        }
        upstream.notes.append(String(decoding: raw, as: UTF8.self))
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + (head.method == "HEAD" ? "" : "ok"))
        if head["Connection"] == "close" { return }
      }
    } catch {
      raw += peer.received
      let isIdle = raw.isEmpty && upstream.notes.contains { !$0.hasPrefix(cut) }
      if !isIdle { upstream.notes.append(cut + String(decoding: raw, as: UTF8.self)) }
    }
  }

  private static func takeChunks(_ peer: Peer, into raw: inout [UInt8]) async throws {
    while true {
      let line = try await peer.take(through: "\r\n")
      raw += line
      guard let size = Int(String(decoding: line.dropLast(2), as: UTF8.self), radix: 16) else { continue }
      if size == 0 { break }
      for _ in 0..<size + 2 { raw += try await peer.take(count: 1) }
    }
    var line: [UInt8] = []
    repeat {
      line = try await peer.take(through: "\r\n")
      raw += line
    } while line.count > 2
  }

  /// The part of a request that another server might parse differently; nil if there is no such part.
  static func ambiguity(in note: String) -> String? {
    let text = note.hasPrefix(cut) ? String(note.dropFirst(cut.count)) : note
    let bytes = Array(text.utf8)
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
      return note.hasPrefix(cut) ? nil : "no end of the head"
    }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    for line in lines where line.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) {
      return "a control character"
    }
    let parts = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[2] == "HTTP/1.1", parts[1].hasPrefix("/") || parts[1] == "*" else {
      return "the request line"
    }
    var names: [String] = []
    for line in lines.dropFirst() {
      guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")), line.first != " ", line.first != "\t" else {
        return "a line without a name"
      }
      let name = line[..<colon]
      guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return "a name" }
      names.append(
        String(decoding: name.utf8.map { $0 | 0x20 }.map { (0x61...0x7a).contains($0) ? $0 : 0x2d }, as: UTF8.self))
    }
    for name in ["host", "content-length", "transfer-encoding", "connection"]
    where names.filter({ $0 == name }).count > 1 {
      return "two of \(name)"
    }
    guard names.contains("host") else { return "no host" }
    if names.contains("content-length"), names.contains("transfer-encoding") { return "two lengths" }
    // The gateway sends `Connection: close` to a server that may leave the body unread.
    let asksForClose = lines.contains("Connection: close") && names.contains { $0 == "content-length" }
    // It sends `TE` for a client that accepts trailers.
    let asksForTrailers = lines.contains("Connection: TE") && lines.contains("TE: trailers")
    if names.contains("connection"), !(asksForClose && parts[0] != "POST") && !asksForTrailers {
      return "a field of another hop"
    }
    if names.contains("te"), !asksForTrailers { return "a field of another hop" }
    for name in ["keep-alive", "proxy-connection", "trailer", "upgrade", "http--settings", "expect"]
    where names.contains(name) { return "a field of another hop" }
    return nil
  }
}
