import OAuth
import Policy
import Testing

@testable import Evaluation

@Suite("Differences between policies for the requests of a log")
struct LoggedDifferenceTests {
  private static func line(_ members: String, client: String = "app") -> [UInt8] {
    let decision = members.contains("\"decision\"") ? "" : "\"decision\":\"forward\","
    return Array(
      """
      {"v":1,"time":"2026-11-24T10:00:00.000Z","event":"decision","client":"\(client)",\(decision)\(members),"policy":"p"}
      """.utf8)
  }

  private static func authorization(
    _ more: String = "", uri: String = "com.example.app:/cb", pkce: String = "S256"
  )
    -> [UInt8]
  {
    line(
      "\"endpoint\":\"authorization\",\"redirect_uri\":\"\(uri)\",\"response_type\":\"code\",\"pkce\":\"\(pkce)\"\(more)"
    )
  }

  private static func difference(
    _ lines: [[UInt8]], _ old: [ClientSettings], _ new: [ClientSettings]
  ) throws -> LoggedDifference {
    var requests = LoggedRequests()
    for line in lines { requests.add(line) }
    return LoggedDifference(requests, from: try Sample.evaluator(old), to: try Sample.evaluator(new))
  }

  @Test("Equal policies change no request, whatever the log contains")
  func equal() throws {
    let token =
      "\"endpoint\":\"token\",\"grant\":\"authorization_code\",\"client_authentication\":\"none\",\"pkce\":\"verifier\""
    let difference = try Self.difference(
      [Self.authorization(), Self.authorization(), Self.line(token)], [Sample.app()], [Sample.app()])
    #expect(difference.changedCount == 0 && difference.requests == 3)
    #expect(difference.text == "0 of 3 requests in the log change\n")
  }

  @Test("A removed redirect URI is counted by its requests, and the port of a loopback URI does not matter")
  func removed() throws {
    let old = try Sample.app()
    let new = try Sample.app { $0.redirectURIs.removeLast() }
    let lines =
      Array(repeating: Self.authorization(uri: "http://127.0.0.1/callback"), count: 7) + [Self.authorization()]
    let client = try #require(try Self.difference(lines, [old], [new]).clients.first)
    #expect(client.client == "app" && client.requests == 8 && client.changed == 7)
    #expect(client.refusals.map(\.rule) == ["redirect-uri-mismatch"] && client.refusals.map(\.count) == [7])
    #expect(client.changes.map(\.request) == ["authorization to http://127.0.0.1/callback with PKCE"])
  }

  @Test("A registered query is restored, so that requests with it do not seem to be refused")
  func query() throws {
    let uri = try RedirectURI(parsing: "com.example.app:/cb?tenant=1")
    let app = try Sample.app { $0.redirectURIs = [uri] }
    let stricter = try Sample.app {
      $0.redirectURIs = [uri]
      $0.enforcement.state = .require
    }
    let missing = ",\"findings\":[\"state-missing\"]"
    let difference = try Self.difference([Self.authorization(), Self.authorization(missing)], [app], [stricter])
    #expect(difference.clients.first?.refusals.map(\.rule) == ["state-required"])
    #expect(difference.changedCount == 1)
  }

  @Test("A refusal that depends on facts outside of the log is named and not compared")
  func notRebuilt() throws {
    let verifier = """
      "endpoint":"token","decision":"reject","rule":"pkce-verifier-mismatch","grant":"authorization_code",\
      "client_authentication":"none","pkce":"verifier","redirect_uri":"com.example.app:/cb"
      """
    let before = Self.authorization(",\"rule\":\"client-unknown\"", uri: "http://127.0.0.1/callback")
    let listed = try Self.difference([before], [Sample.app()], [Sample.app { $0.redirectURIs.removeLast() }])
    #expect(listed.changedCount == 1 && listed.notRebuilt.isEmpty)
    let cut = Self.authorization(uri: "com.example.app:/" + String(repeating: "x", count: 10) + "...")
    let difference = try Self.difference([Self.line(verifier), cut], [Sample.app()], [Sample.app()])
    #expect(difference.requests == 0)
    #expect(
      difference.notRebuilt.map(\.reason) == [
        "requests that `pkce-verifier-mismatch` refused, which depends on facts that the log does not have",
        "requests that the log cuts",
      ])
  }

  @Test("Requests of ids that no policy lists are one entry, and control characters are not printed")
  func unlisted() throws {
    var requests = LoggedRequests()
    let members = "\"endpoint\":\"authorization\",\"response_type\":\"code\",\"pkce\":\"none\""
    for id in ["x1", "x2"] { requests.add(Self.line(members, client: id)) }
    requests.add(Self.line(members + ",\"rule\":\"no-rule\\u001b[2J\"", client: "x3"))
    let difference = LoggedDifference(
      requests, from: try Sample.evaluator(mode: .observe, unknown: .observe), to: try Sample.evaluator())
    #expect(difference.clients.count == 1 && difference.clients[0].client == nil)
    #expect(difference.clients[0].refusals.first?.rule == "client-unknown" && difference.changedCount == 2)
    #expect(difference.text.hasPrefix("clients that are not listed: 2 of 2 requests in the log change\n"))
    #expect(difference.text.contains("`no-rule\u{fffd}[2J`") && !difference.text.contains("\u{1b}"))
  }
}
