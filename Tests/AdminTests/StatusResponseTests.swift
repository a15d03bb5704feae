import ClientTestSupport
import Compression
import Cryptography
import Foundation
import HTTP
import JSON
import PortTestSupport
import Telemetry
import Testing

@testable import Admin

/// The responses of the admin listener at `/`, `/status.json` and `/status.txt`.
@Suite("The responses with the status")
struct StatusResponseTests {
  @Test("The page, the JSON and the text are served, and show the policy in force and no secret (I-secrets)")
  func served() async throws {
    let admin = try await AdminFixture()
    admin.status.beginServing([])
    admin.status.replacePolicy(try AdminFixture.policy(upstreamPort: 1, version: "v2"))
    for (path, type) in [
      ("/", "text/html; charset=utf-8"), ("/status.json", "application/json"),
      ("/status.txt", "text/plain; charset=utf-8"),
    ] {
      let answer = try await Fetch.get(admin.port, path)
      #expect(answer.status == 200 && answer.headers["Content-Type"] == type)
      #expect(answer.headers["Cache-Control"] == "no-store" && answer.headers["X-Content-Type-Options"] == "nosniff")
      let text = Fetch.text(answer)
      #expect(text.contains("v2") && text.contains("https://id.example.com") && !text.contains("very-secret"))
    }
    let json = try await Fetch.get(admin.port, "/status.json").body
    #expect(JSONValue.members(of: json)?["policy"] != nil)
    await admin.stop()
  }

  @Test("The content security policy permits the style sheet and the script of the page, and nothing from elsewhere")
  func contentSecurityPolicy() async throws {
    let admin = try await AdminFixture()
    let page = try await Fetch.get(admin.port, "/")
    let html = Fetch.text(page)
    func hash(_ element: String) throws -> String {
      let pieces = html.components(separatedBy: "<\(element)>")
      #expect(pieces.count == 2)
      let content = try #require(pieces.last?.components(separatedBy: "</\(element)>").first)
      return "'sha256-\(Data(sha256(Array(content.utf8))).base64EncodedString())'"
    }
    let policy = try #require(page.headers["Content-Security-Policy"])
    #expect(
      try policy
        == "default-src 'none'; style-src \(hash("style")); script-src \(hash("script")); connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
    #expect(page.headers["Referrer-Policy"] == "no-referrer" && page.headers["X-Frame-Options"] == "DENY")
    // Attributes that the policy would block, and anything that would be loaded.
    for part in [" style=", " onclick=", " src=", "<link", "@import", "url("] { #expect(!html.contains(part)) }
    await admin.stop()
  }

  @Test("A request with the entity tag of the same state gets 304, and one after a change gets the new page")
  func conditional() async throws {
    let admin = try await AdminFixture()
    for path in ["/", "/status.json", "/status.txt"] {
      // The minute may end between two requests.
      var (tag, second) = ("", Response(status: 0))
      for _ in 0..<3 where second.status != 304 {
        tag = try #require(try await Fetch.get(admin.port, path).headers["ETag"])
        second = try await Self.get(admin, path, ["If-None-Match": "\"other\", \(tag)"])
      }
      #expect(second.status == 304 && second.body.isEmpty && second.headers["ETag"] == tag)
      #expect(try await Self.get(admin, path, ["If-None-Match": "*"]).status == 304)
      #expect(try await Self.get(admin, path, ["If-None-Match": "W/\"0\""]).status == 200)
      admin.status.metrics.policyReloadFailed()
      let changed = try await Self.get(admin, path, ["If-None-Match": tag])
      #expect(changed.status == 200 && changed.headers["ETag"] != tag)
    }
    await admin.stop()
  }

  @Test("HEAD has the fields of GET and no body; other methods are refused")
  func methods() async throws {
    let admin = try await AdminFixture()
    for path in ["/", "/status.json", "/status.txt"] {
      let head = try await Fetch.send(admin.port, Request(method: "HEAD", target: path))
      #expect(head.status == 200 && head.body.isEmpty && head.headers["ETag"] != nil)
      let post = try await Fetch.send(admin.port, Request(method: "POST", target: path))
      #expect(post.status == 405 && post.headers["Allow"] == "GET, HEAD")
    }
    await admin.stop()
  }

  @Test("The page is compressed for a client that accepts it, and is refused for a foreign host")
  func compressed() async throws {
    let admin = try await AdminFixture()
    let answer = try await Self.get(admin, "/", ["Accept-Encoding": "gzip"])
    #expect(answer.headers["Content-Encoding"] == "gzip")
    #expect(answer.headers.all("Vary") == ["Accept-Language", "Accept-Encoding"])
    let html = String(decoding: try Decoder.decode(answer.body, .gzip, limit: 1 << 20), as: UTF8.self)
    #expect(html.hasPrefix("<!doctype html>"))
    #expect(try await Fetch.get(admin.port, "/status.json", host: "attacker.example").status == 421)
    await admin.stop()
  }

  @Test("The page is in the language of the browser; the JSON and the text are English")
  func languages() async throws {
    let admin = try await AdminFixture()
    let german = try await Self.get(admin, "/", ["Accept-Language": "de-AT, en;q=0.5"])
    #expect(german.headers["Content-Language"] == "de")
    #expect(Fetch.text(german).contains("<html lang=\"de\""))
    #expect(Fetch.text(german).contains("Entscheidungen pro Minute"))
    for accepted in ["en, de;q=0.9", "fr", "*"] {
      #expect(try await Self.get(admin, "/", ["Accept-Language": accepted]).headers["Content-Language"] == "en")
    }
    let text = try await Self.get(admin, "/status.txt", ["Accept-Language": "de"])
    #expect(text.headers["Content-Language"] == nil && Fetch.text(text).contains("\npolicy "))
    await admin.stop()
  }

  @Test("An upstream that cannot be reached is shown")
  func unreachable() async throws {
    let reserved = try ReservedPort()
    defer { withExtendedLifetime(reserved) {} }
    let port = reserved.number
    let admin = try await AdminFixture { _ in try AdminFixture.policy(upstreamPort: port) }
    admin.status.beginServing([])
    let html = Fetch.text(try await Fetch.get(admin.port, "/"))
    #expect(html.contains("The gateway is not ready"))
    #expect(html.contains("<li>http://127.0.0.1:\(port) cannot be reached: "))
    await admin.stop()
  }

  private static func get(_ admin: AdminFixture, _ path: String, _ fields: Headers) async throws -> Response {
    var request = Request(method: "GET", target: path)
    request.headers = fields
    return try await Fetch.send(admin.port, request)
  }
}
