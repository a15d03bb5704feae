import Gateway
import HTTP
import Policy
import Testing

@Suite("The operator's logo and color on pages")
struct PageBrandingTests {
  @Test("A logo is part of the page, and only its scheme is permitted")
  func logo() {
    var branding = Branding(name: "Acme")
    branding.logo = Branding.Logo(type: "image/png", content: [1, 2, 3])
    let response = Pages(branding: branding).error(ErrorPage(status: 400))
    #expect(PagesTests.html(response).contains("<img src=\"data:image/png;base64,AQID\" alt=\"\"><span>Acme</span>"))
    #expect(response.headers.onlyValue(of: "Content-Security-Policy")?.hasSuffix("; img-src data:") == true)
    let without = Pages().error(ErrorPage(status: 400)).headers.onlyValue(of: "Content-Security-Policy")
    #expect(without?.contains("img-src") == false)
  }

  @Test("A color replaces the accent in both schemes, and can be read on each background")
  func colors() {
    var branding = Branding()
    branding.color = PageColor(parsing: "#0033AA")
    let html = PagesTests.html(Pages(branding: branding).error(ErrorPage(status: 400)))
    #expect(html.contains(":root { --accent: #0033aa; --accent-hover: #002888; }"))
    #expect(html.contains("--on-accent: #000000"))
  }

  @Test(
    "The color of dark mode is made lighter until it can be read",
    arguments: ["#000000", "#0033aa", "#7a1fa2", "#b00020", "#1f5a50", "#444444"])
  func dark(_ text: String) throws {
    let dark = try #require(PageColor(parsing: text)).readableInDarkMode
    #expect(dark.contrast(to: .darkBackground) >= 450 && dark.contrast(to: .black) >= 450)
    #expect(dark.mixed(with: .white, percent: 25).contrast(to: .black) >= 450)
  }

  @Test(
    "Contrast ratios are those of WCAG",
    arguments: [
      ("#000000", "#ffffff", 2_100), ("#777777", "#ffffff", 447), ("#767676", "#ffffff", 454),
      ("#ff0000", "#ffffff", 399), ("#1f5a50", "#1f5a50", 100),
    ])
  func contrast(_ first: String, _ second: String, _ ratio: Int) throws {
    let (first, second) = (try #require(PageColor(parsing: first)), try #require(PageColor(parsing: second)))
    #expect(first.contrast(to: second) == ratio && second.contrast(to: first) == ratio)
  }

  @Test(
    "Only `#` and six hexadecimal digits are a color", arguments: ["", "#fff", "red", "#12345g", "#+12345", "1234567"])
  func malformed(_ text: String) { #expect(PageColor(parsing: text) == nil) }
}
