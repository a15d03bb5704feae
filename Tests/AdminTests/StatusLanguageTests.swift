import Foundation
import Testing

@testable import Admin

@Suite("The languages of the status page")
struct StatusLanguageTests {
  @Test("Each language has all texts and no others, with the same placeholders")
  func complete() throws {
    let words = Set(StatusWord.allCases.map(\.rawValue))
    let placeholder = try NSRegularExpression(pattern: #"\{[a-z]*\}|[{}]"#)
    func placeholders(_ text: String) -> [String] {
      placeholder.matches(in: text, range: NSRange(text.startIndex..., in: text))
        .compactMap { Range($0.range, in: text).map { String(text[$0]) } }.sorted()
    }
    for language in StatusLanguage.all where language.tag != "en" {
      #expect(language.keys == words, "\(language.tag): \(language.keys.symmetricDifference(words))")
      for word in StatusWord.allCases {
        #expect(!language.template(word).isEmpty)
        #expect(placeholders(language.template(word)) == placeholders(word.rawValue), "\(language.tag) \(word)")
      }
    }
  }

  @Test("The German page says so, has no English words of the page, and has German numbers")
  func german() throws {
    let html = StatusSample.html(try StatusSample.troubled().report(), .german)
    #expect(html.hasPrefix("<!doctype html>\n<html lang=\"de\""))
    for text in ["48.210", "4,4 MiB", "noch 9 Tage", "38 von Clients", "Änderung einer Datei (--watch)"] {
      #expect(html.contains(text), "\(text)")
    }
    let start = try #require(html.range(of: "<main")?.lowerBound)
    let end = try #require(html.range(of: "</main>")?.lowerBound)
    // The elements with messages of the log and of `check` say that they are English.
    let own = html[start..<end].replacing(/<(ul|span|p)[^>]* lang="en">[\s\S]*?<\/\1>/, with: "")
      .replacing(/<code>[\s\S]*?<\/code>/, with: "").replacing(/<[^>]*>/, with: " ")
    for word in [" the ", " of ", " and ", "refused", "Refused", "last ", " requests", "Ready", "ago"] {
      #expect(!own.contains(word), "\(word)")
    }
  }
}
