import Telemetry
import Testing
import Time

@testable import AccessLog

/// The two forms of a line.
@Suite("Lines of the access log")
struct LineTests {
  static func combined(_ entry: AccessEntry) -> String {
    var lines = CombinedLines()
    lines.append(entry, at: Entries.now)
    return String(decoding: lines.bytes, as: UTF8.self)
  }

  static func json(_ entry: AccessEntry, _ fields: [AccessField] = AccessField.allCases) -> String {
    var lines = JSONLines()
    entry.write(AccessFields(fields), at: Entries.now, to: &lines)
    return String(decoding: lines.bytes, as: UTF8.self)
  }

  @Test("A combined line is that of nginx, byte for byte")
  func combinedLine() {
    let entry = Entries.entry {
      $0.setQuery("a=1&b=2".utf8.span, isEndpoint: false)
      $0.setReferer("https://app.example/page".utf8.span)
      $0.setUserAgent("Mozilla/5.0 (X11)".utf8.span)
    }
    #expect(
      Self.combined(entry)
        == "192.0.2.1 - - [24/Nov/2026:10:00:00 +0000] \"GET /app?a=1&b=2 HTTP/1.1\" 200 5 \"https://app.example/page\" "
        + "\"Mozilla/5.0 (X11)\"\n")
  }

  @Test("A long text is cut, after its secrets are removed")
  func cut() throws {
    let long = String(repeating: "a", count: AccessEntry.maximumTextLength)
    let entry = Entries.entry {
      $0.setReferer("https://\(long.dropLast(100))@app.example/".utf8.span)
      $0.setUserAgent("\(long)b".utf8.span)
    }
    #expect(Self.json(entry, [.referer, .userAgent]).contains(#""referer":"app.example/","user_agent":"\#(long)"}"#))
  }

  @Test("A Referer that is longer than that of each browser becomes `***`")
  func longReferer() throws {
    for (count, text) in [(4_096, "https://a.example/" + String(repeating: "b", count: 4_078)), (4_097, "***")] {
      let sent = "https://a.example/" + String(repeating: "b", count: count - 18)
      let entry = Entries.entry { $0.setReferer(sent.utf8.span) }
      #expect(Self.json(entry, [.referer]).contains(#""referer":"\#(text)"}"#))
    }
  }

  @Test("A combined line has a dash for each missing text, and for a request that could not be read")
  func missing() {
    #expect(
      Self.combined(Entries.entry())
        == "192.0.2.1 - - [24/Nov/2026:10:00:00 +0000] \"GET /app HTTP/1.1\" 200 5 \"-\" \"-\"\n")
    let unread = AccessEntry()
    unread.begin(at: 0)
    unread.status = 400
    #expect(Self.combined(unread) == "- - - [24/Nov/2026:10:00:00 +0000] \"-\" 400 0 \"-\" \"-\"\n")
  }

  @Test("No byte of a request ends its field or its line, or is outside of ASCII")
  func injection() throws {
    let all = [UInt8](0...255)
    let entry = Entries.entry {
      $0.setUserAgent(all.span)
      $0.setReferer("/\"\r\n1.2.3.4 - - \u{1b}[2J".utf8.span)
      $0.setPath("/a\"b\\c\r\n".utf8.span)
    }
    let line = Self.combined(entry)
    #expect(line.utf8.count { $0 == 0x0a } == 1)
    #expect(line.utf8.dropLast().allSatisfy { $0 >= 0x20 && $0 < 0x7f })
    #expect(line.utf8.count { $0 == UInt8(ascii: "\"") } == 6)
    #expect(line.contains(#"/a\x22b\x5Cc\x0D\x0A"#))
    #expect(line.contains(#"\x00\x01"#))
    #expect(line.contains(#"\x7F\x80"#))
    let json = Self.json(entry)
    #expect(json.utf8.count { $0 == 0x0a } == 1)
    #expect(json.utf8.dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7f })
    #expect(json.contains(#""path":"/a\"b\\c\r\n""#))
  }

  @Test("A line of JSON has the chosen members that have a value, in a fixed order")
  func members() {
    let entry = Entries.entry {
      $0.request = "r1"
      $0.setTrace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".utf8.span)
      $0.tls = "TLSv1.3"
      $0.reason = "a folded header line"
      $0.upstream = "127.0.0.1:9000"
      $0.upstreamConnected(at: 3_000_000)
      $0.upstreamFirstByte = 4_000_000
      $0.bytesIn = 7
    }
    #expect(
      Self.json(entry)
        == #"{"v":1,"time":"2026-11-24T10:00:00.123Z","event":"access","request":"r1","#
        + #""trace":"0af7651916cd43dd8448eb211c80319c","peer":"192.0.2.1","listener":"127.0.0.1:8080","#
        + #""protocol":"HTTP/1.1","tls":"TLSv1.3","method":"GET","host":"id.example.com","path":"/app","status":200,"#
        + #""reason":"a folded header line","bytes_in":7,"bytes_out":5,"duration_us":1234,"upstream":"127.0.0.1:9000","#
        + #""upstream_connect_us":2999,"upstream_first_byte_us":4000}"# + "\n")
    #expect(Self.json(entry, [.status, .method]) == #"{"v":1,"event":"access","method":"GET","status":200}"# + "\n")
  }

  @Test(
    "An invalid `traceparent` gives no trace",
    arguments: ["", "00-0af7651916cd43dd8448eb211c80319c", "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"])
  func invalidTrace(parent: String) {
    let entry = Entries.entry { $0.setTrace(parent.utf8.span) }
    #expect(!Self.json(entry).contains("trace"))
  }

  @Test("A text is cut, so that a request cannot make a line arbitrarily long")
  func length() {
    let entry = Entries.entry { $0.setUserAgent([UInt8](repeating: 0, count: 60_000).span) }
    #expect(Self.combined(entry).utf8.count < 4 * AccessEntry.maximumTextLength + 200)
  }

  @Test("The facts of a request are not those of the one before it on the same connection")
  func reuse() {
    let entry = Entries.entry {
      $0.setUserAgent("first".utf8.span)
      $0.setReferer("/first".utf8.span)
      $0.setQuery("first".utf8.span, isEndpoint: false)
      $0.reason = "first"
      $0.upstream = "first"
      $0.request = "first"
      $0.upstreamConnected(at: 2_000)
      $0.upstreamFirstByte = 1
    }
    entry.begin(at: 0)
    entry.setMethod("GET".utf8.span)
    entry.setPath("/second".utf8.span)
    let line = Self.json(entry)
    #expect(!line.contains("first"))
    #expect(line.contains("/second"))
  }

  @Test("A sample has every request, or the same part of each pattern of requests", arguments: [1, 2, 10, 1_000])
  func sample(size: Int) {
    let format = AccessLogFormat(.combined, sample: size)
    let chosen = (1...100_000).filter { format.includes(request: UInt64($0)) }
    let expected = 100_000 / size
    #expect(abs(chosen.count - expected) <= max(1, expected / 50))
    // For example, pages and their pictures, which alternate.
    let odd = chosen.count { $0 % 2 == 1 }
    #expect(abs(2 * odd - chosen.count) <= max(2, chosen.count / 10))
  }
}
