import OAuth
import Policy
import Testing

@testable import Evaluation

@Suite("Differences between policies")
struct PolicyDifferenceTests {
  private func difference(_ old: [ClientSettings], _ new: [ClientSettings]) throws -> PolicyDifference {
    PolicyDifference(from: try Sample.evaluator(old), to: try Sample.evaluator(new))
  }

  @Test("Equal policies change no decision")
  func equal() throws {
    let difference = try difference([Sample.app(), Sample.web()], [Sample.app(), Sample.web()])
    #expect(difference.text == "no decision changes, 2 clients compared\n")
    #expect(difference.lines(limit: 5) == ["no decision changes, 2 clients compared"])
  }

  @Test("A removed redirect URI changes the requests for it and no others")
  func redirectURI() throws {
    let fewer = try Sample.app { $0.redirectURIs.removeLast() }
    let changes = try #require(try difference([Sample.app()], [fewer]).clients.first)
    #expect(changes.client == "app" && changes.kind == .changed)
    #expect(
      changes.changes.contains {
        $0.request == "authorization to http://127.0.0.1/callback with PKCE" && $0.before == "forward"
          && $0.after == "reject redirect-uri-mismatch"
      })
    #expect(!changes.changes.contains { $0.request.contains("to com.example.app:/cb with PKCE") })
  }

  @Test("Enforcing an observed client shows which of its requests are refused from then on")
  func enforced() throws {
    let observed = try Sample.app { $0.enforcement.mode = .observe }
    let changes = try #require(try difference([observed], [Sample.app()]).clients.first).changes
    #expect(
      changes.contains {
        $0.request == "authorization to com.example.app:/cb without PKCE" && $0.before == "would_reject pkce-required"
          && $0.after == "reject pkce-required (by redirect)"
      })
  }

  @Test("A credential of the client that the server no longer gets is named, also for the requests of a log")
  func credentials() throws {
    let observed = try Sample.app { client in
      client.enforcement.mode = .observe
      client.upstream = UpstreamClient(clientID: client.id, authentication: .none, redirectURI: .callback)
    }
    let bare = try Sample.app {
      $0.upstream = UpstreamClient(clientID: $0.id, authentication: .none, redirectURI: .callback)
    }
    let request = "token authorization_code with a verifier, client_secret in the body"
    let dropped = try #require(try difference([observed], [bare]).clients.first).changes
    #expect(
      dropped.contains {
        $0.request == request && $0.before == "forward" && $0.after == "forward (without the client's credentials)"
      }, "\(dropped)")
    let held = try Sample.app {
      $0.upstream = UpstreamClient(
        clientID: $0.id, clientSecret: Secret("s"), authentication: .post, redirectURI: .callback)
    }
    let kept = try difference([observed], [held]).clients.first?.changes ?? []
    #expect(!kept.contains { $0.after.contains("without the client's credentials") }, "\(kept)")
  }

  @Test("Another identity at the upstream is a change even if the decision is the same")
  func upstream() throws {
    let other = try Sample.app { $0.upstream.clientID = ClientID("other") }
    let difference = try difference([Sample.app()], [other])
    #expect(
      difference.text.contains(
        "authorization to com.example.app:/cb with PKCE\n    forward, with another upstream request: client_id\n"))
  }

  @Test("Added and removed clients are named, and a reload prints a bounded number of lines")
  func clients() throws {
    let difference = try difference([Sample.app()], [Sample.web()])
    #expect(difference.clients.prefix(2).map(\.kind) == [.removed, .added])
    #expect(difference.text.hasPrefix("client app: removed; "))
    #expect(difference.lines(limit: 5).count == 3)
    let many = try PolicyDifferenceTests().difference([Sample.app { $0.enforcement.mode = .observe }], [Sample.app()])
    let lines = many.lines(limit: 3)
    #expect(lines.count == 4 && lines[0].hasPrefix("decision changed: client app: "))
    #expect(lines[3].hasSuffix("; `proofgate diff OLD NEW` shows all"))
  }

  @Test("Cases are compared too, and at most the given number of clients")
  func bounds() throws {
    let old = try Sample.evaluator([Sample.app { $0.enforcement.mode = .observe }, Sample.web()])
    let new = try Sample.evaluator([Sample.app(), Sample.web()])
    let request = Sample.authorize([(.codeChallenge, nil)])
    let difference = PolicyDifference(from: old, to: new, cases: [("my case", request)], maximumClients: 0)
    #expect(difference.omittedCount == 2 && difference.comparedCount == 0)
    #expect(difference.text.contains("cases: 1 of 1 requests change\n  my case\n"))
  }
}
