import Cryptography
import Demo
import FoundationEssentials
import Gateway
import HTTP
import LegacyServer
import Policy
import Testing
import Time

@Suite("The gateway's own pages (I-pages)")
struct PagesTests {
  static let attack = #""><script>alert(1)</script><a href='https://evil.example/'>"#
  static let pages = Pages(branding: Branding(name: "Acme & Sons", supportURL: "https://help.example.com/?a=1&b=2"))

  static let details = ErrorPage(
    status: 400, rule: "redirect-uri-mismatch", section: "RFC 6749, section 3.1.2.4", detail: "not `\(attack)`",
    transaction: "T-\(attack)")

  static var all: [Response] {
    [
      pages.error(details), Pages().error(ErrorPage(status: 500)),
      pages.consent(consent(name: attack)),
      pages.startAgain(path: "/authorize?state=\(attack)", details),
      pages.embeddedUserAgent(address: "https://id.example.com/authorize?state=\(attack)", details),
      pages.formPost(
        redirectURI: "https://web.example.com/cb?x=1", parameters: [("code", "c"), ("state", attack)],
        clientName: attack),
      pages.openApp(location: "com.example.mail:/cb?code=c&state=\(attack)", clientName: attack),
    ]
  }

  static func consent(
    name: String?, identity: ConsentPage.Identity = .unverified, scopes: [String] = [attack]
  ) -> ConsentPage {
    ConsentPage(
      clientID: "com.example.mail", clientName: name, identity: identity,
      destination: .app(scheme: "com.example.mail"), scopes: scopes, action: "/authorize", token: attack)
  }

  static func html(_ response: Response) -> String {
    String(decoding: response.body, as: UTF8.self)
  }

  @Test("Every page has the strict headers and no form-action")
  func headers() {
    for response in Self.all {
      let policy = response.headers.onlyValue(of: "Content-Security-Policy") ?? ""
      let directives = policy.split(separator: ";").map { $0.drop { $0 == " " } }
      #expect(directives.contains("default-src 'none'"))
      #expect(directives.contains("base-uri 'none'"))
      #expect(directives.contains("frame-ancestors 'none'"))
      #expect(!policy.contains("form-action"))
      #expect(!policy.contains("unsafe"))
      #expect(response.headers.onlyValue(of: "Document-Policy") == "force-load-at-top")
      #expect(response.headers.onlyValue(of: "X-Frame-Options") == "DENY")
      #expect(response.headers.onlyValue(of: "X-Content-Type-Options") == "nosniff")
      #expect(response.headers.onlyValue(of: "Referrer-Policy") == "no-referrer")
      #expect(response.headers.onlyValue(of: "Cache-Control") == "no-store")
      #expect(response.headers.onlyValue(of: "Content-Type") == "text/html; charset=utf-8")
      #expect(response.headers.onlyValue(of: "Location") == nil)
      #expect(response.headers.onlyValue(of: "Refresh") == nil)
    }
  }

  @Test("The Content-Security-Policy allows exactly the style and the script of the page")
  func hashes() throws {
    for response in Self.all {
      let html = Self.html(response)
      let policy = try #require(response.headers.onlyValue(of: "Content-Security-Policy"))
      for (tag, directive) in [("style", "style-src"), ("script", "script-src")] {
        let parts = html.components(between: "<\(tag)>", and: "</\(tag)>")
        let sources = parts.map { "'sha256-\(Data(sha256(Array($0.utf8))).base64EncodedString())'" }
        #expect(parts.count <= 1)
        #expect(policy.contains(directive) == !parts.isEmpty)
        for source in sources { #expect(policy.contains("\(directive) \(source)")) }
      }
    }
  }

  @Test("No external value becomes markup (6749-10.14-sanitise)")
  func escaping() {
    for response in Self.all {
      let html = Self.html(response)
      #expect(!html.contains("<script>alert"))
      #expect(!html.contains("href='https://evil.example"))
      #expect(!html.contains("\"><script"))
    }
  }

  @Test("A page loads nothing and has no link to an address of the request (6749-3.1.2.4-no-redirect)")
  func noForeignAddresses() {
    for response in Self.all {
      let html = Self.html(response)
      #expect(!html.contains(" src="))
      #expect(!html.contains("<link"))
      #expect(!html.contains("http-equiv"))
      #expect(!html.contains(" style="))
      #expect(!html.contains(" onclick"))
      #expect(!html.contains("href=\"https://evil.example"))
    }
  }

  @Test("Every page declares its language, fits a phone, supports dark mode and has one main heading")
  func accessibility() {
    for response in Self.all {
      let html = Self.html(response)
      #expect(html.hasPrefix("<!doctype html>\n<html lang=\"en\" dir=\"ltr\">"))
      #expect(html.contains("name=\"viewport\" content=\"width=device-width, initial-scale=1\""))
      #expect(html.contains("prefers-color-scheme: dark"))
      #expect(html.components(between: "<h1>", and: "</h1>").count == 1)
      #expect(html.components(between: "<title>", and: "</title>").count == 1)
      #expect(html.components(between: "<main>", and: "</main>").count == 1)
    }
  }

  @Test("The operator's name and support link are on the page, escaped")
  func branding() {
    let html = Self.html(Self.pages.error(ErrorPage(status: 400)))
    #expect(html.contains("Acme &amp; Sons"))
    #expect(html.contains("href=\"https://help.example.com/?a=1&amp;b=2\""))
    #expect(!Self.html(Pages().error(ErrorPage(status: 400))).contains("href="))
  }

  @Test("An error page shows the developer the rule, its documentation, the standard and the transaction")
  func developer() {
    let html = Self.html(Self.pages.error(Self.details))
    #expect(html.contains("<code>redirect-uri-mismatch</code>"))
    #expect(html.contains("href=\"/.proofgate/rules/redirect-uri-mismatch\""))
    #expect(html.contains("RFC 6749, section 3.1.2.4"))
    #expect(html.contains("T-&quot;&gt;&lt;script"))
  }

  @Test(
    "An error page has the given status, and Retry-After only if a delay is given",
    arguments: [
      400, 403, 404, 405, 408, 413, 414, 421, 429, 431, 500, 501, 502, 503, 504,
    ])
  func statuses(status: Int) {
    let response = Pages().error(ErrorPage(status: status, retryAfter: status == 429 ? 30 : nil))
    #expect(response.status == status)
    #expect(response.headers.onlyValue(of: "Retry-After") == (status == 429 ? "30" : nil))
  }

  @Test("The consent page shows the client, its destination and the requested scopes (I-consent)")
  func consentWords() {
    let html = Self.html(Self.pages.consent(Self.consent(name: "Example Mail", scopes: ["email", "mail.read"])))
    let text = HTMLForm.text(of: html)
    #expect(text.contains("Allow Example Mail to use your account?"))
    #expect(text.contains("com.example.mail"))
    #expect(text.contains("the app on this device that handles com.example.mail:"))
    #expect(text.contains("see your e-mail address"))
    #expect(text.contains("mail.read"))
  }

  @Test("Only a client for which the operator does not vouch is marked as unverified")
  func unverified() {
    func text(_ identity: ConsentPage.Identity) -> String {
      HTMLForm.text(of: Self.html(Self.pages.consent(Self.consent(name: "Mail", identity: identity))))
    }
    let doubt = "Allow it only if you started this sign-in yourself, just now."
    #expect(text(.unverified).contains("unverified") && text(.unverified).contains("is not proven"))
    #expect(!text(.vouchedFor).contains("unverified") && !text(.vouchedFor).contains("not proven"))
    #expect(text(.vouchedFor).contains("Other apps on this device could open this page in its name. " + doubt))
    #expect(!text(.proven).contains("unverified") && !text(.proven).contains(doubt))
  }

  @Test(
    "Destinations are described in words",
    arguments: [
      (RedirectDestination.thisComputer(host: "127.0.0.1"), "a program on this computer 127.0.0.1"),
      (.site(uri: "https://app.example.com"), "https://app.example.com"),
      (.app(scheme: "com.example.app"), "the app on this device that handles com.example.app:"),
    ])
  func destinations(destination: RedirectDestination, words: String) {
    var page = Self.consent(name: "Mail")
    page.destination = destination
    #expect(HTMLForm.text(of: Self.html(Self.pages.consent(page))).contains("You return to \(words)"))
  }

  @Test("The consent form posts the token and one of two decisions")
  func consentForm() throws {
    let forms = HTMLForm.forms(in: Self.html(Self.pages.consent(Self.consent(name: "Mail"))))
    let form = try #require(forms.first)
    #expect(forms.count == 1)
    #expect(form.method == "POST")
    #expect(form.action == "/authorize")
    #expect(form.submission()[ConsentPage.Field.token] == Self.attack)
    let answers = form.buttons.map { form.submission(button: $0)[ConsentPage.Field.decision] }
    #expect(answers == [ConsentPage.Field.deny, ConsentPage.Field.approve])
  }

  @Test("The form of form_post carries every value unchanged to the redirect URI (rm-form-post)")
  func formPost() throws {
    let state = Self.attack + "\r\n é & + %20"
    let response = Self.pages.formPost(
      redirectURI: "https://web.example.com/cb?x=1&y=2", parameters: [("code", "c"), ("state", state), ("iss", "i")],
      clientName: "Web")
    let form = try #require(HTMLForm.forms(in: Self.html(response)).first)
    #expect(form.action == "https://web.example.com/cb?x=1&y=2")
    #expect(form.submission() == ["code": "c", "state": state, "iss": "i"])
  }

  @Test(
    "The page that offers to start again links to the gateway's own origin only (I-browser)",
    arguments: [
      "https://evil.example/", "//evil.example/", "/\\evil.example/", "evil", "",
    ])
  func startAgainElsewhere(path: String) {
    let html = Self.html(Pages().startAgain(path: path, ErrorPage(status: 400)))
    #expect(!html.contains("href="))
  }

  @Test("The page that offers to start again links to the given path (I-browser)")
  func startAgain() {
    let html = Self.html(Pages().startAgain(path: "/authorize?client_id=a&state=s", ErrorPage(status: 400)))
    #expect(html.contains("href=\"/authorize?client_id=a&amp;state=s\""))
  }

  @Test("An embedded user agent gets the address as text to copy, without a link (8252-8.12-block)")
  func embedded() {
    let address = "https://id.example.com/authorize?client_id=a&state=s"
    let response = Pages().embeddedUserAgent(address: address, ErrorPage(status: 403))
    let html = Self.html(response)
    #expect(response.status == 403)
    #expect(HTMLForm.text(of: html).contains(address))
    #expect(!html.contains("href="))
  }

  @Test("The page that opens the app links to the redirect URI and does not follow the link by itself")
  func openApp() {
    let html = Self.html(Pages().openApp(location: "com.example.mail:/cb?code=c&state=s", clientName: "Mail"))
    #expect(html.contains("href=\"com.example.mail:/cb?code=c&amp;state=s\""))
    #expect(!html.contains("<script"))
  }

  @Test(
    "Allow comes after Don't allow, on screen and for the keyboard, and ignores clicks in the first second (I-consent)")
  func buttons() throws {
    let html = Self.html(Self.pages.consent(Self.consent(name: "Mail")))
    let deny = try #require(html.firstRange(of: #"value="deny""#))
    let allow = try #require(html.firstRange(of: #"class="deliberate" name="decision" value="approve""#))
    #expect(deny.lowerBound < allow.lowerBound)
    #expect(!html.contains("row-reverse") && !html.contains("column-reverse"))
    #expect(html.contains("button.deliberate { animation: deliberate 1s"))
    #expect(html.contains("@keyframes deliberate { from { pointer-events: none"))
    // The second begins again when the pointer comes onto the page, for example from a window of another site above it.
    #expect(html.contains("html:not(:hover) button.deliberate { animation: none; pointer-events: none; }"))
  }
}

extension String {
  /// The texts between each pair of marks.
  fileprivate func components(between open: String, and close: String) -> [String] {
    var found: [String] = []
    var rest = self[...]
    while let start = rest.firstRange(of: open), let end = rest[start.upperBound...].firstRange(of: close) {
      found.append(String(rest[start.upperBound..<end.lowerBound]))
      rest = rest[end.upperBound...]
    }
    return found
  }
}
