import Enforcement
import HTTP
import Markup
import OAuth
import Policy
import Proxy

/// The texts of the pages, in the language of the page. All texts and values are escaped.
extension Pages {
  /// Returns the pages in the language that a browser prefers.
  ///
  /// - Parameter acceptLanguage: The text of the `Accept-Language` fields.
  func preferring(_ acceptLanguage: String) -> Pages {
    guard let index = AcceptLanguage.preferred(acceptLanguage, among: catalogues.map(\.language)) else { return self }
    var pages = self
    pages.catalogue = catalogues[index]
    return pages
  }

  /// Returns a text, with markup in place of its placeholders.
  func text(_ key: PageText, _ values: [String: HTML] = [:]) -> HTML {
    HTML(template: catalogue.text(key), values)
  }

  /// Returns a text, with other texts in place of its placeholders.
  func title(_ key: PageText, _ values: [String: String] = [:]) -> String {
    var text = catalogue.text(key)
    for placeholder in key.placeholders {
      guard let value = values[placeholder], let range = text.firstRange(of: "{\(placeholder)}") else { continue }
      text.replaceSubrange(range, with: value)
    }
    return text
  }

  /// The attribute of an element whose text is English in every language; nothing on an English page.
  var inEnglish: HTML? { catalogue.language == PageCatalogue.english.language ? nil : " lang=\"en\"" }

  /// Returns the name of a client on pages. The name of a client that is not listed in the policy is its own claim.
  func name(of client: Client?) -> String {
    guard let client else { return title(.appUnnamed) }
    guard client.isUnlisted else { return client.name ?? client.id.rawValue }
    return client.name.map { title(.appSelfNamed, ["name": $0]) } ?? title(.appUnnamed)
  }
}

/// The texts of an error page.
struct ErrorTexts {
  let title: PageText
  let happened: PageText
  let advice: PageText

  /// Creates the texts for an error.
  init(_ page: ErrorPage) {
    // Without a rule, the HTTP message has an error, whether it belongs to a sign-in or not.
    let isMessageError = page.rule == nil && (400..<500).contains(page.status) && page.status != 429
    (title, happened, advice) =
      switch isMessageError || page.rule == Rejection.targetUnencoded.ruleID ? 405 : page.status {
      case 403: (.error403Title, .error403Text, .error403Advice)
      case 404: (.error404Title, .error404Text, .error404Advice)
      case 405: (.error405Title, .error405Text, .error405Advice)
      case 421: (.error421Title, .error421Text, .error421Advice)
      case 429: (.error429Title, .error429Text, .error429Advice)
      case 400..<500: (.error400Title, .error400Text, .error400Advice)
      case 502: (.error502Title, .error502Text, .error502Advice)
      case 503: (.error503Title, .error503Text, .error503Advice)
      case 504: (.error504Title, .error504Text, .error504Advice)
      default: (.error500Title, .error500Text, .error500Advice)
      }
  }
}
