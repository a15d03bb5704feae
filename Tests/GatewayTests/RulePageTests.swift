import Enforcement
import GatewayTestSupport
import HTTP
import JSON
import LegacyServer
import OAuth
import Policy
import Testing

@testable import Gateway

@Suite("Rule pages")
struct RulePageTests {
  @Test("Each rule has a page with the text of the manual, escaped, with the content security policy of all pages")
  func pages() {
    let pages = Pages(branding: Branding(), rulesURL: "https://gw.example/.proofgate/rules")
    let policy = pages.error(ErrorPage(status: 400)).headers["Content-Security-Policy"]
    for rejection in Rejection.subjects.flatMap(\.rejections) {
      let response = pages.rule(rejection)
      let html = String(decoding: response.body, as: UTF8.self)
      #expect(response.status == 200 && response.headers["Content-Security-Policy"] == policy)
      #expect(html.contains("<h1><code>\(rejection.ruleID)</code></h1>"))
      #expect(html.contains("<dt>How to fix it</dt>") && !html.contains("`"), "\(rejection)")
      #expect(!html.contains("<script"))
    }
    let german = String(decoding: pages.preferring("de").rule(.redirectURIMismatch).body, as: UTF8.self)
    #expect(german.contains("<dt>Abhilfe</dt>") && german.contains("Status 400, nie als Weiterleitung"))
    #expect(german.contains("Die Regeln sind auf Englisch beschrieben") && !german.contains("never a redirect"))
    let list = String(decoding: pages.ruleList().body, as: UTF8.self)
    #expect(!list.contains("described in English"))
    #expect(list.contains("href=\"/.proofgate/rules/pkce-required\""))
  }

  @Test("The gateway serves the list and the page of each rule to GET and HEAD, and nothing else below the path")
  func served() async throws {
    try await GatewayFixture.run { gateway in
      let page = try await gateway.send(Request(method: "GET", target: "/.proofgate/rules/pkce-required"))
      #expect(page.status == 200)
      #expect(String(decoding: page.body, as: UTF8.self).contains("The request had no <code>code_challenge</code>."))
      #expect(try await gateway.send(Request(method: "GET", target: "/.proofgate/rules")).status == 200)
      #expect(try await gateway.send(Request(method: "GET", target: "/.proofgate/rules/no-such-rule")).status == 404)
      #expect(try await gateway.send(Request(method: "GET", target: "/.proofgate/rules/")).status == 400)
      let put = try await gateway.send(Request(method: "PUT", target: "/.proofgate/rules"))
      #expect(put.status == 405 && put.headers["Allow"] == "GET, HEAD")
    }
  }

  @Test("An error page links to the page of its rule, and an error redirect and a token error name it in error_uri")
  func links() async throws {
    try await GatewayFixture.run { gateway in
      let rules = "\(gateway.policy.gateway.origin.description)/.proofgate/rules/"
      let unknown = try await gateway.send(Request(method: "GET", target: "/authorize?client_id=nobody-knows"))
      #expect(String(decoding: unknown.body, as: UTF8.self).contains("href=\"/.proofgate/rules/client-unknown\""))
      let target = gateway.authorizationTarget("n1") { form in
        form.remove("code_challenge")
        form.remove("code_challenge_method")
      }
      let location = try await gateway.get(target).headers["Location"]
      #expect(location?.contains("&error_uri=") == true, "\(location ?? "")")
      #expect(location?.contains("%2F.proofgate%2Frules%2Fpkce-required%23request%3D") == true)
      let token = try await gateway.send(
        Request(
          method: "POST", target: "/token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
          body: Array("grant_type=password&client_id=x".utf8)))
      let members = try #require(JSONValue.members(of: token.body))
      #expect(members["error_uri"]?.text?.hasPrefix(rules + "password-grant#request=") == true)
    }
  }
}
