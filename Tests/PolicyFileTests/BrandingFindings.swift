import Policy
import Testing

@testable import PolicyFile

@Suite("Findings about the operator's pages")
struct BrandingFindings {
  @Test("One finding, in its words and at its place", arguments: cases)
  func finding(_ finding: FindingCase) throws {
    try finding.check()
  }

  private static func branding(_ text: String) -> [(String, String)] {
    [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  branding: { \(text) }")]
  }

  static let cases: [FindingCase] = [
    FindingCase(
      .invalidValue, "Colors that cannot be read", edits: branding("color: '#88ccaa', dark_color: '#303030'"),
      expected: """
        policy.yaml:6:22: error: `color` cannot be `#88ccaa`: its contrast to the page is 1.6, and users need 4.5 to read \
        text (WCAG 2.2, criterion 1.4.3); use a darker color
        policy.yaml:6:45: error: `dark_color` cannot be `#303030`: its contrast to the page is 1.1, and users need 4.5 to \
        read text (WCAG 2.2, criterion 1.4.3); use a lighter color
        """),
    FindingCase(
      .invalidValue, "A color by its name", edits: branding("color: red"),
      expected: """
        policy.yaml:6:22: error: `color` cannot be `red`; use `#` and six hexadecimal digits, in quotes, such as \
        `"#1f5a50"`
        """),
    FindingCase(
      .conflict, "A dark color alone", edits: branding("dark_color: '#ffffff'"),
      expected: """
        policy.yaml:6:27: error: `dark_color` has no effect without `color`; add `color` or remove it
        """),
    FindingCase(
      .unreadableFile, "A logo that does not exist", edits: branding("logo: logo.svg"),
      expected: """
        policy.yaml:6:21: error: logo `logo.svg` does not exist; check the path
        """),
    FindingCase(
      .invalidValue, "A logo of another type", edits: branding("logo: logo.svg"), files: ["logo.svg": "GIF89a"],
      expected: """
        policy.yaml:6:21: error: logo `logo.svg` is neither PNG nor SVG; convert it
        """),
    FindingCase(
      .invalidValue, "A logo with a script", edits: branding("logo: logo.svg"),
      files: ["logo.svg": "<svg xmlns=\"http://www.w3.org/2000/svg\"><Script>alert(1)</Script></svg>"],
      expected: """
        policy.yaml:6:21: error: logo `logo.svg` contains `<script`; use a drawing without it
        """),
    FindingCase(
      .unreadableFile, "A logo that is too large", edits: branding("logo: logo.svg"),
      files: ["logo.svg": "<svg></svg>" + String(repeating: " ", count: Branding.Logo.maximumSize)],
      expected: """
        policy.yaml:6:21: error: logo `logo.svg` is longer than 32768 bytes; name another file
        """),
    FindingCase(
      .invalidValue, "A language without texts", edits: branding("default_language: fr"),
      expected: """
        policy.yaml:6:33: error: `default_language` cannot be `fr`, for which there are no texts; use `en` or `de`, or \
        name its file in `texts`
        """),
    FindingCase(
      .invalidValue, "A file of texts without the name of a language", edits: branding("texts: texts.json"),
      files: ["texts.json": "{}"],
      expected: """
        policy.yaml:6:22: error: the file `texts.json` does not have the name of a language, such as `fr.json` or \
        `pt-BR.json`; rename it
        """),
    FindingCase(
      .duplicateValue, "A language twice", edits: branding("texts: [a/de.json, b/de.json]"),
      files: ["a/de.json": "{}", "b/de.json": "{}"],
      expected: """
        policy.yaml:6:34: error: `texts` has several files for `de`; keep one
        """),
    FindingCase(
      .missingKey, "A language that is not complete", edits: branding("texts: fr.yaml"),
      files: ["fr.yaml": "help: Aide"],
      expected: """
        fr.yaml:1:1: error: the texts for `fr` have no `app.unnamed` and \(PageText.allCases.count - 2) others; translate \
        them, because the program does not contain this language
        """),
    FindingCase(
      .unknownKey, "A text that no page has", edits: branding("texts: de.json"),
      files: ["de.json": "{\n  \"consent.alow\": \"Ja\",\n  \"scope.mail\": \"Post lesen\"\n}"],
      expected: """
        de.json:2:3: error: no page has a text `consent.alow`; did you mean `consent.allow`?
        """),
    FindingCase(
      .invalidValue, "Texts with wrong placeholders and characters", edits: branding("texts: en.yaml"),
      files: [
        "en.yaml": """
        consent.title: Allow?
        consent.heading: Allow {app} and {app}?
        open_app.title: Open {name}{app}
        consent.next: a {brace
        consent.deny: " "
        consent.app: "a\\u202eb"
        consent.allow: \(String(repeating: "x", count: 1_001))
        consent.self_named_app: a tool named {name}
        app.self_named: "un outil « {name} »"
        consent.self_named_program: "a tool “{name}"
        """
      ],
      expected: """
        en.yaml:1:16: error: the text `consent.title` must contain `{app}` once; add it
        en.yaml:2:18: error: the text `consent.heading` must contain `{app}` once; add it
        en.yaml:3:17: error: the text `open_app.title` has a brace; only `{app}` may occur
        en.yaml:4:15: error: the text `consent.next` has a brace; it has no placeholders
        en.yaml:5:15: error: the text `consent.deny` is empty; write it, or remove the key
        en.yaml:6:14: error: the text `consent.app` has an invisible character or a line end; remove it
        en.yaml:7:16: error: the text `consent.allow` is longer than 1000 bytes; write it shorter
        en.yaml:8:25: error: the text `consent.self_named_app` must have quotation marks around `{name}`, which is a name that the app chose; add them
        en.yaml:10:29: error: the text `consent.self_named_program` must have quotation marks around `{name}`, which is a name that the app chose; add them
        """),
    FindingCase(
      .wrongType, "Texts that are no texts", edits: branding("texts: de.json"), files: ["de.json": "{ help: [a] }"],
      expected: """
        de.json:1:9: error: `help` must be text, not a list
        """),
    FindingCase(
      .wrongType, "A list of texts", edits: branding("texts: de.json"), files: ["de.json": "[a]"],
      expected: """
        de.json:1:1: error: a file with texts must be a mapping of keys to texts, not a list
        """),
  ]

  @Test(
    "An SVG file with a script, an event handler or a reference to another file is refused",
    arguments: [
      "<svg onload=\"x\"></svg>", "<svg><a xlink:href=\"https://e.example\"/></svg>", "<svg><a href='//e'/></svg>",
      "<svg><style>@import 'x'</style></svg>", "<!DOCTYPE svg><svg></svg>", "<svg><foreignObject/></svg>",
      "<svg><rect fill=\"url(https://e.example/a)\"/></svg>", "<svg><g/onclick=x></svg>",
      "<svg><image href='#a'/></svg>",
      "<svg>", "text",
    ])
  func activeSVG(_ text: String) { #expect(SVGText.problem(of: Array(text.utf8)) != nil) }

  @Test("A drawing with its own gradients and styles is a logo")
  func drawing() {
    let text = """
      <?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><style>@media (prefers-color-scheme: \
      dark) { path { fill: #fff } }</style><linearGradient id="a"/><path fill="url(#a)" d="M0 0h9v9z"/><use href="#a"/></svg>
      """
    #expect(SVGText.problem(of: Array(text.utf8)) == nil)
    #expect(SVGText.problem(of: [0xff, 0xfe]) == .notSVG)
  }

  @Test("Logo, colors, texts and default language reach the policy")
  func values() throws {
    let text =
      FindingCase.base.replacing(
        "sealing_keys: { file: keys }",
        with: """
          sealing_keys: { file: keys }
            branding:
              logo: logo.svg
              color: "#7A1FA2"
              dark_color: "#ffffff"
              texts: texts/*.json
              default_language: de
          """)
    let outcome = try PolicyFolder.load(
      text,
      files: ["logo.svg": "<svg></svg>", "texts/de.json": "{\"scope.mail\": \"Post lesen\"}", "texts/en.json": "{}"])
    let branding = try #require(outcome.policy).gateway.branding
    #expect(branding.logo == Branding.Logo(type: "image/svg+xml", content: Array("<svg></svg>".utf8)))
    #expect(branding.color?.text == "#7a1fa2" && branding.darkColor?.text == "#ffffff")
    #expect(branding.texts.map(\.language) == ["de", "en"])
    #expect(branding.texts.first?.texts == ["scope.mail": "Post lesen"])
    #expect(branding.defaultLanguage == "de")
  }
}
