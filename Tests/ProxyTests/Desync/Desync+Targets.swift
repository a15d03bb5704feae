extension Desync {
  // MARK: Class 5

  static let targets: [DesyncCase] = badHosts + badTargets + goodTargets

  private static let badHosts: [DesyncCase] =
    [
      "", " ", "u@gateway.test", "u:p@gateway.test", "@gateway.test", "gateway.test@evil.test",
      "gateway.test evil.test",
      "gateway.test/", "/", "gateway.test/evil", "gateway.test?x", "gateway.test#x", "gateway.test\\evil", "a,b",
      "a, b", "a;b",
      "gateway.test:", "gateway.test:x", "gateway.test:0", "gateway.test:65536", "gateway.test:99999",
      "gateway.test:-1",
      "gateway.test:+80", "gateway.test:80:80", "gateway.test: 80", "gateway.test :80", ":80", "[::1", "::1", "[]",
      "[::1]x",
      "[::1]:", "[g::1]", "[::1%25eth0]", "gateway%2etest", "gateway.test\u{0}", "g\u{e4}teway.test", "gateway.test\tx",
      "http://gateway.test", "\"gateway.test\"", "<gateway.test>", "{gateway.test}", "gateway.test|x", "gateway.test&x",
      "(gateway.test)", "*", "*.test", "gateway.test=1", "gateway.test'", String(repeating: "a", count: 262),
    ].map { .refused("Host `\(shown($0))`", "GET / HTTP/1.1\r\nHost: \($0)\r\n\r\n") } + [
      .refused("no host", "GET / HTTP/1.1\r\n\r\n"), .refused("the same host twice", get(host)),
      .refused("two hosts", get("Host: evil.test\r\n")),
      .refused("two hosts in other cases", get("hOST: evil.test\r\n")),
      .refused("a folded host", "GET / HTTP/1.1\r\nHost:\r\n gateway.test\r\n\r\n"),
      .refused("white space before the colon", "GET / HTTP/1.1\r\nHost : gateway.test\r\n\r\n"),
      .refused("no host but an absolute target", "GET http://gateway.test/ HTTP/1.1\r\n\r\n"),
      .refused("a bad host and an absolute target", "GET http://gateway.test/ HTTP/1.1\r\nHost: u@a\r\n\r\n"),
      .refused("an empty host and an absolute target", "GET http://gateway.test/ HTTP/1.1\r\nHost:\r\n\r\n"),
    ]

  private static let badTargets: [DesyncCase] =
    [
      "#", "/#", "/a#b", "/?a#b", "http://gateway.test/#a", "a", "gateway.test", "gateway.test:80", "?a", "*", "\\",
      "\\a", ".", "../a",
      "ftp://gateway.test/", "ws://gateway.test/", "file:///", "http:", "http:/", "http://", "http:///", "http:///a",
      "http:/gateway.test/", "http:gateway.test/", "http:\\\\gateway.test\\", "http://u@gateway.test/",
      "http://u:p@gateway.test/",
      "http://@gateway.test/", "http://gateway.test?a", "http://gateway.test\\a", "http://gateway.test:0/",
      "http://gateway.test:x/", "http://gateway.test:65536/", "http://[::1/", "http://gateway.test,evil.test/",
      "http://gateway.test%2f@evil.test/", "http://gateway.test;a/", "javascript:a", "mailto:a@b", "/\u{7f}", "/\u{0}",
      "/a\u{b}b",
      "/\u{e4}", "/\u{a0}", "/a\rb", "/a\nb", "/a\tb",
    ].map { .refused("target `\(shown($0))`", "GET \($0) HTTP/1.1\r\n\(host)\r\n") } + [
      .refused("`*` with POST", "POST * HTTP/1.1\r\n\(host)Content-Length: 0\r\n\r\n"),
      .refused("`*a` with OPTIONS", "OPTIONS *a HTTP/1.1\r\n\(host)\r\n"),
      .refused("`**` with OPTIONS", "OPTIONS ** HTTP/1.1\r\n\(host)\r\n"),
    ]

  private static func whole(_ target: String, _ sent: String, host name: String = "gateway.test") -> DesyncCase {
    .forwarded(
      "target `\(target)`", "GET \(target) HTTP/1.1\r\n\(host)\r\n", CanonicalRequest(target: sent, host: name))
  }

  private static let goodTargets: [DesyncCase] = [
    whole("//evil.test/", "//evil.test/"), whole("/a/../b/./c", "/a/../b/./c"), whole("/%2e%2e/%00", "/%2e%2e/%00"),
    whole("/a?b?c=d&e", "/a?b?c=d&e"), whole("/http://evil.test/", "/http://evil.test/"),
    whole("/@evil.test", "/@evil.test"),
    whole("http://gateway.test/a?b", "/a?b"), whole("HTTP://gateway.test/", "/"), whole("https://gateway.test/", "/"),
    whole("http://gateway.test", "/"), whole("http://evil.test/a", "/a", host: "evil.test"),
    whole("http://evil.test:81//a", "//a", host: "evil.test:81"), whole("http://[::1]:80/", "/", host: "[::1]:80"),
    .forwarded(
      "`*` with OPTIONS", "OPTIONS * HTTP/1.1\r\n\(host)\r\n", CanonicalRequest(method: "OPTIONS", target: "*")),
  ]
}
