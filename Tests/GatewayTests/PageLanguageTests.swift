import Demo
import Enforcement
import FoundationEssentials
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Proxy
import Testing
import Time

@testable import Gateway

@Suite("The languages of the gateway's pages")
struct PageLanguageTests {
  @Test("Each language has all texts and no others, with the same placeholders")
  func complete() {
    #expect(PageCatalogue.builtIn.map(\.language) == PageText.builtInLanguages)
    let keys = PageCatalogue.english.keys
    #expect(keys.isSuperset(of: PageText.allCases.map(\.rawValue)))
    for catalogue in PageCatalogue.builtIn {
      #expect(catalogue.keys == keys, "\(catalogue.language): \(catalogue.keys.symmetricDifference(keys))")
      for text in PageText.allCases {
        #expect(PageText.problem(of: catalogue.text(text), key: text.rawValue) == nil, "\(catalogue.language) \(text)")
      }
      for key in catalogue.keys where PageText(rawValue: key) == nil {
        let scope = String(key.dropFirst(PageText.scopePrefix.count))
        #expect(PageText.problem(of: catalogue.description(ofScope: scope) ?? "", key: key) == nil, "\(key)")
      }
    }
  }

  @Test(
    "The language is the one that the browser prefers, also by a shorter tag; otherwise the default",
    arguments: [
      ("", nil), ("de", 1), ("DE-at", 1), ("de-CH-1996", 1), ("fr, de;q=0.5, en;q=0.7", 0), ("fr", nil), ("pt", 2),
      ("pt-PT, de;q=0.1", 2), ("*", nil), ("de;q=0, en;q=0.1", 0), ("en;q=0.8, de;q=0.9", 1), ("de;q=x, en", 0),
      (",;,=,de;;", 1), (" de ; q=0.2 , en ; q=0.1", 1), ("en-GB, de", 0), ("fr;q=1, *;q=0.5, de;q=0.1", nil),
      (String(repeating: "xx,", count: 20) + "de", nil), ("-", nil), ("d", nil), ("\u{e4}\u{0},de", 1),
      ("\u{301},de\u{301},en", 0), ("de-x" + String(repeating: "-a", count: 20) + ",en", 0),
    ])
  func choice(_ accepted: String, _ expected: Int?) {
    #expect(AcceptLanguage.preferred(accepted, among: ["en", "de", "pt-BR"]) == expected)
  }

  @Test("Every page exists in German, says so, and has no English words of the gateway")
  func german() {
    let pages = PagesTests.pages.preferring("de-DE,de;q=0.9,en;q=0.8")
    for (name, response) in PageSamples.all(pages) {
      let html = PagesTests.html(response)
      #expect(html.hasPrefix("<!doctype html>\n<html lang=\"de\" dir=\"ltr\">"), "\(name)")
      #expect(response.headers.onlyValue(of: "Content-Language") == "de")
      #expect(response.headers.onlyValue(of: "Vary") == "Accept-Language")
      // Rule texts and details for developers are English, and the elements that contain them say so.
      let ownText = HTMLForm.text(of: PageSamples.withoutEnglish(html))
      for word in [" the ", " you ", " your ", "Allow", "sign in", "Get help", "Continue", "Reference", "Why"] {
        #expect(!ownText.contains(word), "\(name): \(word)")
      }
    }
  }

  @Test(
    "The consent page puts a name that a client gave itself into the quotation marks of the language, also in the title",
    arguments: [
      ("en", "“", "”", "Allow an app that calls itself “Mail, checked by Acme”?"),
      ("de", "„", "“", "Zugriff für eine App mit dem selbst gewählten Namen „Mail, checked by Acme“ erlauben?"),
    ])
  func quotedNames(language: String, open: String, close: String, title: String) {
    var page = PagesTests.consent(name: "Mail, checked by Acme")
    page.isSelfNamed = true
    let named = "\(open)<bdi>Mail, checked by Acme</bdi>\(close)"
    for host in [nil, "tool.example"] {
      page.documentHost = host
      let html = PagesTests.html(Pages().preferring(language).consent(page))
      #expect(html.ranges(of: named).count == 2 && html.ranges(of: "<bdi>Mail").count == 2, "\(html)")
      #expect(html.contains("<title>\(title)</title>") == (host == nil))
    }
    page.clientName = nil
    #expect(!PagesTests.html(Pages().preferring(language).consent(page)).contains(open))
  }

  @Test("The error page of a German browser is German; the same error for a program is English")
  func served() async throws {
    try await GatewayFixture.run { gateway in
      var request = Request(method: "GET", target: "/authorize?client_id=nobody-knows")
      request.headers = ["Accept": "text/html", "Accept-Language": "de-AT, en;q=0.5"]
      let german = try await gateway.send(request)
      #expect(german.headers["Content-Language"] == "de")
      #expect(String(decoding: german.body, as: UTF8.self).contains("Dieser Anmeldelink funktioniert nicht"))
      request.headers = ["Accept": "text/html", "Accept-Language": "fr"]
      #expect(try await gateway.send(request).headers["Content-Language"] == "en")
      request = Request(method: "POST", target: "/token", headers: ["Accept-Language": "de"])
      let token = try await gateway.send(request)
      #expect(token.status == 400 && token.headers["Content-Language"] == nil)
      request = Request(method: "GET", target: "/.proofgate/no-such-page")
      request.headers = ["Accept": "application/json", "Accept-Language": "de"]
      let problem = try await gateway.send(request)
      #expect(
        problem.headers["Content-Language"] == nil && problem.headers["Content-Type"] == "application/problem+json")
    }
  }

  @Test("The operator's texts replace single texts, describe scopes and add languages, and all are escaped")
  func operatorsTexts() {
    var branding = Branding()
    var arabic = Dictionary(uniqueKeysWithValues: PageText.allCases.map { ($0.rawValue, "نص") })
    arabic["consent.allow"] = "<b>x</b>"
    branding.texts = [
      PageTexts(language: "EN", texts: ["consent.next": "Next: sign-in at Acme & Sons.", "scope.mail": "read <mail>"]),
      PageTexts(language: "ar", texts: arabic),
    ]
    branding.defaultLanguage = "de"
    let pages = Pages(branding: branding)
    let consent = PagesTests.consent(name: "Mail", scopes: ["mail", "other"])
    let english = PagesTests.html(pages.preferring("en").consent(consent))
    #expect(english.contains("Next: sign-in at Acme &amp; Sons."))
    #expect(english.contains("<li>read &lt;mail&gt; <code class=\"soft\">mail</code></li>"))
    #expect(english.contains("<li>use <code>other</code></li>") && english.contains(">Allow</button>"))
    let other = PagesTests.html(pages.preferring("ar-EG").consent(consent))
    #expect(other.contains("<html lang=\"ar\" dir=\"rtl\">") && other.contains("&lt;b&gt;x&lt;/b&gt;"))
    #expect(PagesTests.html(pages.consent(consent)).contains("<html lang=\"de\""))
  }

  @Test("A value with the form of a placeholder is not replaced")
  func placeholdersInValues() {
    let page = PagesTests.html(Pages().openApp(location: "com.example.a:/cb", clientName: "{app} {name}"))
    #expect(page.contains("<bdi>{app} {name}</bdi>") && page.contains("<title>Open {app} {name}</title>"))
  }
}

/// A response of each kind of page.
enum PageSamples {
  static func all(_ pages: Pages) -> [(name: String, response: Response)] {
    let rejection = Rejection.redirectURIMismatch
    let problem = ErrorPage(rejection)
    let proven = ConsentPage(
      clientID: "acme-mail", clientName: "Acme Mail", identity: .proven,
      destination: .site(uri: "https://mail.example.com/callback?…"), scopes: ["openid", "email", "offline_access"],
      action: "/c", token: "t")
    let registered = ConsentPage(
      clientID: "https://tool.example/client.json", clientName: "Tool", documentHost: "tool.example", isSelfNamed: true,
      identity: .unverified, destination: .thisComputer(host: "127.0.0.1"), scopes: [],
      resource: ConsentPage.Resource(name: nil, identifier: "https://api.example.com/"), action: "/c", token: "t")
    var selfNamed = registered
    (selfNamed.clientID, selfNamed.documentHost) = ("pg1.a", nil)
    var samples: [(name: String, response: Response)] = [
      ("consent-app", pages.consent(PagesTests.consent(name: "Beispiel Post", scopes: ["email", "mail.read"]))),
      ("consent-site", pages.consent(proven)), ("consent-registered", pages.consent(registered)),
      ("consent-self-named", pages.consent(selfNamed)),
      ("start-again", pages.startAgain(path: "/start?x", problem)),
      ("start-in-app", pages.startAgain(path: nil, problem)),
      ("embedded", pages.embeddedUserAgent(address: "https://id.example.com/a?b=c", problem)),
      ("embedded-again", pages.embeddedUserAgent(address: nil, problem)),
      (
        "form-post", pages.formPost(redirectURI: "https://w.example/cb", parameters: [("code", "c")], clientName: "Web")
      ),
      ("open-app", pages.openApp(location: "com.example.mail:/cb", clientName: "Acme Mail")),
      ("rule", pages.rule(rejection)), ("rules", pages.ruleList()),
      ("device-approved", pages.deviceDecided(isApproved: true, clientName: "TV")),
      ("device-denied", pages.deviceDecided(isApproved: false, clientName: "TV")),
      ("device-problem", pages.deviceProblem(ErrorPage(status: 409))),
      ("device-ended", pages.deviceProblem(problem)), ("device-unknown", pages.deviceProblem(problem, .unknown)),
      ("device-approved-before", pages.deviceProblem(problem, .approved)),
    ]
    if let code = UserCode(typed: "BCDF-GHJK") {
      samples.append(
        ("device-entry", pages.deviceEntry(action: "/device", token: "t", codeToCompare: nil, rejection: nil)))
      samples.append(
        (
          "device-compare",
          pages.deviceEntry(action: "/device", token: "t", codeToCompare: code, rejection: .userCodeUnknown)
        ))
      for age: Seconds in [0, 60, 600] {
        let page = DevicePage(
          clientName: "TV", clientID: "tv", userCode: code, scopes: ["profile"], resource: nil,
          network: "192.0.2.0/24", age: age, action: "/device", token: "t")
        samples.append(("device-confirm-\(age.count)", pages.deviceConfirmation(page)))
      }
    }
    for status in [400, 403, 404, 405, 408, 421, 429, 500, 502, 503, 504] {
      samples.append(("error-\(status)", pages.error(ErrorPage(status: status, rule: "host-unknown", detail: "d"))))
    }
    return samples
  }

  /// Returns the page without the elements whose text is English.
  static func withoutEnglish(_ html: String) -> String {
    var result = html
    for element in ["p", "dd", "div"] {
      while let start = result.firstRange(of: "<\(element) lang=\"en\">"),
        let end = result[start.upperBound...].firstRange(of: "</\(element)>")
      {
        result.removeSubrange(start.lowerBound..<end.upperBound)
      }
    }
    return result
  }

  /// Writes each page in each language to the directory in `PROOFGATE_WRITE_PAGES`, for a look in a browser.
  @Test("The pages are written to files on request")
  static func write() throws {
    guard let directory = ProcessInfo.processInfo.environment["PROOFGATE_WRITE_PAGES"] else { return }
    var branding = Branding(name: "Acme", supportURL: "/help")
    branding.color = PageColor(parsing: "#7a1fa2")
    branding.logo = Branding.Logo(
      type: "image/svg+xml",
      content: Array(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9' width='40'><circle cx='4' cy='4' r='4'/></svg>".utf8)
    )
    for (brand, pages) in [("plain", Pages()), ("brand", Pages(branding: branding))] {
      for language in PageText.builtInLanguages {
        for (name, response) in all(pages.preferring(language)) {
          try Data(response.body).write(to: URL(fileURLWithPath: "\(directory)/\(brand)-\(language)-\(name).html"))
        }
      }
    }
  }
}
