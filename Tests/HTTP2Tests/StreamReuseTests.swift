import HTTP2TestSupport
import Reactor
import Testing

@testable import HTTP2

@Suite("Streams whose objects are reused")
struct StreamReuseTests {
  @Test("A reused stream keeps nothing of the earlier stream")
  func begins() throws {
    let fixture = try SessionFixture()
    fixture.receive(
      .headers(1, Frame.request("POST", "/secret") + [("content-length", "9")], endsStream: false),
      .data(1, "secret"))
    let stream = try #require(fixture.streams[1])
    fixture.respond(1, "secret")
    fixture.session.stopReading(stream)
    stream.callerIndex = 7
    let fresh = HTTP2Stream(fixture.buffers)
    fresh.begin(3)
    // The caller reuses its data together with the object.
    fresh.callerIndex = 7
    #expect(String(describing: stream.state) != String(describing: fresh.state))
    stream.begin(3)
    #expect(String(describing: stream.state) == String(describing: fresh.state))
    for (used, new) in zip(Mirror(reflecting: stream).children, Mirror(reflecting: fresh).children) {
      if let used = used.value as? Buffer, let new = new.value as? Buffer {
        #expect(used.isEmpty && !used.hasBlock && !new.hasBlock)
      } else {
        #expect(String(describing: used.value) == String(describing: new.value))
      }
    }
  }

  @Test("An object serves a later stream of its connection, but not while it is still referenced")
  func isUsedAgain() throws {
    let fixture = try SessionFixture()
    fixture.receive(.get(1))
    let first = try #require(fixture.streams[1])
    fixture.respond(1)
    _ = fixture.frames()
    #expect(first.isClosed)
    fixture.receive(.get(3))
    #expect(fixture.streams[3] !== first)
    #expect(fixture.session.recycle(first))
    fixture.receive(.get(5, "/five"))
    #expect(fixture.streams[5] === first)
    #expect(fixture.text(5)?.hasPrefix("GET /five HTTP/1.1\r\n") == true)
  }

  @Test("The object of an open stream is not reused")
  func open() throws {
    let fixture = try SessionFixture()
    fixture.receive(.get(1))
    let first = try #require(fixture.streams[1])
    #expect(!fixture.session.recycle(first))
    fixture.receive(.get(3))
    #expect(fixture.streams[3] !== first)
  }
}
