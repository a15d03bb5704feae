import Demo
import HTTP
import LegacyServer
import Testing

@Suite("Parts of the scripted browser")
struct BrowserPartsTests {
  @Test(
    "A form is decoded to the values that were encoded", arguments: ["", "a b", "a+b&c=d%", "é\u{1F600}", "\"<>\r\n"])
  func forms(value: String) {
    let form: Form = ["k ey": value, "z": "1"]
    #expect(Form(decoding: form.encoded) == form)
  }

  @Test("Invalid form encoding is kept as it is")
  func lenient() {
    #expect(Form(decoding: "a=%&b=%4&c=%zz&d&=e") == ["a": "%", "b": "%4", "c": "%zz", "d": "", "": "e"])
  }

  @Test(
    "Addresses are split into host, port and target",
    arguments: [
      ("http://127.0.0.1:8080/a?b=c#d", "127.0.0.1", 8080, "/a?b=c"), ("https://EXAMPLE.com", "example.com", 443, "/"),
      ("http://[::1]:5000?x", "[::1]", 5000, "/?x"), ("http://[::1]/", "[::1]", 80, "/"),
    ])
  func addresses(text: String, host: String, port: Int, target: String) throws {
    let address = try #require(WebAddress(text))
    #expect(address.host == host)
    #expect(address.port == port)
    #expect(address.target == target)
  }

  @Test(
    "Other schemes, missing hosts and user information are refused as web addresses",
    arguments: [
      "com.example:/cb", "http://", "http://a@b/", "http://h:x/", "http://h:70000/", "/path",
    ])
  func noAddresses(text: String) {
    #expect(WebAddress(text) == nil)
  }

  @Test(
    "References resolve as on a web page",
    arguments: [
      ("/x", "http://h:1/x"), ("x?y", "http://h:1/a/x?y"), ("?q", "http://h:1/a/b?q"), ("", "http://h:1/a/b?c"),
      ("//other/x", "http://other/x"), ("com.example.app:/cb?code=1", "com.example.app:/cb?code=1"),
      ("/x?u=http://y", "http://h:1/x?u=http://y"),
    ])
  func references(reference: String, expected: String) throws {
    let base = try #require(WebAddress("http://h:1/a/b?c"))
    #expect(base.resolving(reference) == expected)
  }

  @Test("Cookies are sent to the host and port that set them, and to no other")
  func cookies() throws {
    var jar = CookieJar()
    let here = WebAddress(host: "127.0.0.1", port: 1)
    jar.store(Headers([.init(name: "Set-Cookie", value: "a=1; Path=/; HttpOnly")]), from: here)
    jar.store(Headers([.init(name: "set-cookie", value: "b=x=y")]), from: here)
    #expect(jar.field(for: here.at("/other")) == "a=1; b=x=y")
    #expect(jar.field(for: WebAddress(host: "127.0.0.1", port: 2)) == nil)
    jar.store(Headers([.init(name: "Set-Cookie", value: "a=; Max-Age=0")]), from: here)
    #expect(jar.field(for: here) == "b=x=y")
  }

  @Test("Forms are found with their fields, buttons and decoded values")
  func formFinder() throws {
    let html = """
      <style>a > b { content: "<form>" }</style><!-- note -->
      <FORM action='/go?a=1&amp;b=2' method=POST><input type=hidden name=t value="&quot;&lt;&#39;&#x41;">
      <input name="user"><input type="password" name='pw'/>
      <button name="d" value="yes"><b>All</b>ow</button><input type="submit" value="No"></FORM>
      """
    let form = try #require(HTMLForm.forms(in: html).first)
    #expect(form.action == "/go?a=1&b=2")
    #expect(form.method == "POST")
    #expect(form.names(of: "text") == ["user"])
    #expect(form.names(of: "password") == ["pw"])
    #expect(form.buttons.map(\.label) == ["Allow", "No"])
    #expect(
      form.submission(["user": "u"], button: form.buttons.first) == ["t": "\"<'A", "user": "u", "pw": "", "d": "yes"])
  }

  @Test("A redirect loop ends")
  func loop() async {
    var browser = DemoBrowser { _, _ in Response(status: 302, headers: ["Location": "/again"]) }
    await #expect(throws: DemoBrowser.Failure.tooManyRedirects) {
      _ = try await browser.open(WebAddress(host: "h", port: 80))
    }
  }

  @Test("The app gets its response from the query, the fragment or a posted form")
  func deliveries() async throws {
    let page = #"<form method="post" action="http://127.0.0.1:7/cb"><input type="hidden" name="code" value="c"></form>"#
    for response in [
      Response(status: 302, headers: ["Location": "http://127.0.0.1:7/cb?code=c"]),
      Response(status: 303, headers: ["Location": "http://127.0.0.1:7/cb#code=c"]),
      Response(status: 200, body: Array(page.utf8)),
    ] {
      var browser = DemoBrowser(appRedirectURI: "http://127.0.0.1:7/cb") { _, _ in response }
      let stop = try await DemoUser().signIn(in: &browser, from: WebAddress(host: "h", port: 80))
      guard case .app(let delivery) = stop else {
        Issue.record("the browser stopped at \(stop)")
        continue
      }
      #expect(delivery.parameters == ["code": "c"])
    }
  }
}
