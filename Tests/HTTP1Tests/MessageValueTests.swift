import HTTP
import Testing
import Time

struct MessageValueTests {
  @Test(
    "A date has the format of RFC 9110",
    arguments: [
      (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
      (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    ] as [(UnixTime, String)])
  func dates(_ time: UnixTime, _ text: String) {
    #expect(HTTPDate.format(time) == text)
  }

  @Test("Field names are compared without regard to case, and `only` needs exactly one field")
  func headers() {
    var headers: Headers = ["A": "1", "b": "2", "a": "3"]
    #expect(headers["a"] == "1")
    #expect(headers.all("A") == ["1", "3"])
    #expect(headers.onlyValue(of: "a") == nil)
    #expect(headers.onlyValue(of: "B") == "2")
    headers.set("A", "4")
    #expect(headers.all("a") == ["4"])
    headers.remove("B")
    #expect(!headers.contains("b"))
  }

  @Test("A request's target is split at the first question mark")
  func target() {
    let request = Request(method: "GET", target: "/a?b?c")
    #expect(request.path == "/a")
    #expect(request.query == "b?c")
    #expect(Request(method: "GET", target: "/a").query == nil)
    #expect(Request(method: "GET", target: "/a?").query == "")
  }
}
