import Testing

@testable import OAuth

@Suite("Forms")
struct FormTests {
  private func parse(_ text: String) throws -> FormParameters {
    try #require(FormParameters(parsing: text))
  }

  @Test("Names and values are decoded once, a plus is a space, and the order is kept")
  func decoding() throws {
    let form = try parse("a=1+2&b=%2B%25&c&=x&&d=%C3%A9&redirect%5Furi=u")
    #expect(form.entries.map(\.name) == ["a", "b", "c", "", "d", "redirect_uri"])
    #expect(form[named: "a"] == "1 2")
    #expect(form[named: "b"] == "+%")
    #expect(form[named: "c"] == nil)
    #expect(form[named: "d"] == "\u{e9}")
    #expect(form[.redirectURI] == "u")
  }

  @Test("6749-3.1: a parameter without a value counts as absent, and a second one is a repetition even if it is empty")
  func emptyValues() throws {
    #expect(try parse("a=").lookUp(named: "a") == .absent)
    #expect(try parse("a=&a=1").lookUp(named: "a") == .repeated)
    #expect(try parse("a=1&a=1").lookUp(named: "a") == .repeated)
    #expect(try parse("a=1").lookUp(named: "a") == .value("1"))
    #expect(try parse("").lookUp(named: "a") == .absent)
    #expect(try parse("scope=").lookUp(.scope) == .absent)
    #expect(try parse("scope=&%73cope=1").lookUp(.scope) == .repeated)
    #expect(try parse("scope=1&Scope=2").lookUp(.scope) == .value("1"))
    #expect(try parse("scope=1").lookUp(named: "scope") == .value("1"))
    #expect(try parse("scopes=1").lookUp(.scope) == .absent)
  }

  @Test(
    "6749-B-utf8: malformed escapes, malformed UTF-8 and control characters make a value malformed",
    arguments: ["%", "%4", "%zz", "%FF", "%C0%AF", "%ED%A0%80", "%00", "a%0Ab", "%7F"])
  func malformedValues(value: String) throws {
    #expect(try parse("a=" + value).lookUp(named: "a") == .malformed)
    #expect(try parse("a=1&a=" + value).lookUp(named: "a") == .malformed)
    #expect(try parse("%73cope=" + value).lookUp(.scope) == .malformed)
    #expect(try parse("scope=1&scope=" + value).lookUp(.scope) == .malformed)
    #expect(try parse("scope=" + value).contains(.scope))
  }

  @Test("A form remembers that one of its names cannot be decoded")
  func malformedName() throws {
    #expect(try parse("%ZZ=1").hasMalformedName)
    #expect(try parse("%FF").hasMalformedName)
    #expect(!(try parse("a=%FF").hasMalformedName))
    for name in ["client%u005Fid", "client_id%FF", "%", "%ZZ"] {
      #expect(try parse("a=b;\(name)=1").hasMalformedName)
      #expect(try parse("a;b=c;\(name)=1;d=e&f=g").hasMalformedName)
    }
    #expect(!(try parse("a=b;c=%FF;%ZZ").hasMalformedName))
  }

  @Test("A form with too many parameters is refused")
  func bound() {
    #expect(FormParameters(parsing: String(repeating: "a=b&", count: FormParameters.maximumCount)) != nil)
    #expect(FormParameters(parsing: String(repeating: "a=b&", count: FormParameters.maximumCount + 1)) == nil)
  }

  @Test("Names are counted whatever separates them, and empty ones are not")
  func semicolons() {
    let limit = FormParameters.maximumCount
    for piece in [";a", ";=", ";a=", ";a=b", ";%zz=", ";%41=x"] {
      #expect(FormParameters(parsing: "a" + String(repeating: piece, count: limit - 1)) != nil)
      #expect(FormParameters(parsing: "a" + String(repeating: piece, count: limit)) == nil)
      // Some in each of several pairs.
      #expect(FormParameters(parsing: String(repeating: "a" + piece + "&", count: limit / 2)) != nil)
      #expect(FormParameters(parsing: String(repeating: "a" + piece + "&", count: limit / 2 + 1)) == nil)
    }
    #expect(FormParameters(parsing: "a=1" + String(repeating: ";", count: 8_000)) != nil)
    #expect(FormParameters(parsing: String(repeating: "&", count: 60_000)) != nil)
  }

  @Test("All names together have at most 8 KiB, whatever separates them")
  func nameBytes() {
    let limit = FormParameters.maximumNameBytes
    let name = String(repeating: "x", count: 1_024)
    for separator in ["=1&", "&", "=;"] {
      let eight = String(repeating: name + separator, count: limit / 1_024)
      #expect(FormParameters(parsing: eight) != nil, "\(separator)")
      #expect(FormParameters(parsing: eight + "a=1") == nil, "\(separator)")
    }
    #expect(FormParameters(parsing: "a=" + String(repeating: "x", count: 20_000)) != nil)
    #expect(FormParameters(parsing: String(repeating: "x", count: limit)) != nil)
    #expect(FormParameters(parsing: String(repeating: "x", count: limit + 1)) == nil)
  }

  @Test("All values together have at most 24 KiB as the gateway encodes them, whatever a client escapes")
  func valueBytes() {
    let limit = FormParameters.maximumValueBytes
    for (text, size) in [("x", 1), ("%2F", 3), ("%41", 3), ("+", 3), ("/", 3), ("-", 1)] {
      func repeated(_ count: Int) -> String { String(repeating: text, count: count) }
      let most = limit / size
      #expect(FormParameters(parsing: "a=" + repeated(most)) != nil, "\(text)")
      #expect(FormParameters(parsing: "a=" + repeated(most + 1)) == nil, "\(text)")
      let halves = "a=\(repeated(most / 2))&b=\(repeated(most / 2))"
      #expect(FormParameters(parsing: halves) != nil, "\(text)")
      #expect(FormParameters(parsing: halves + "&c=x") == nil, "\(text)")
    }
  }

  @Test("All text outside ASCII together has at most 1 KiB, decoded, wherever it is")
  func unicodeBytes() {
    let limit = FormParameters.maximumUnicodeBytes
    for (character, escaped) in [("\u{301}", "%CC%81"), ("é", "%c3%a9"), ("\u{FDFA}", "%EF%B7%BA"), ("😀", "😀")] {
      let count = limit / character.utf8.count
      for form in ["%@=", "client_id=%@", "a=%@", "x;%@=1"] {
        for text in [character, escaped] {
          func repeated(_ count: Int) -> String {
            form.split(separator: "%@", omittingEmptySubsequences: false)
              .joined(separator: String(repeating: text, count: count))
          }
          // A text behind a semicolon belongs to two names.
          let most = form.contains(";") ? count / 2 - 1 : count
          #expect(FormParameters(parsing: repeated(most)) != nil, "\(form) \(text)")
          #expect(FormParameters(parsing: repeated(count + 1)) == nil, "\(form) \(text)")
          let halves = repeated(count / 2) + "&" + repeated(count / 2 + 2)
          #expect(FormParameters(parsing: halves) == nil, "\(form) \(text)")
        }
      }
    }
    #expect(FormParameters(parsing: "a=" + String(repeating: "%41+", count: 4_000)) != nil)
  }

  @Test("A scope has at most 8 KiB and 512 tokens")
  func longScopes() {
    for (token, most) in [("a", 512), ("openid:openid", 512), (String(repeating: "x", count: 63), 128)] {
      func scope(_ count: Int) -> String { Array(repeating: token, count: count).joined(separator: " ") }
      #expect(Scope(parsing: scope(most)) != nil, "\(most) of \(token)")
      #expect(Scope(parsing: scope(most + 1)) == nil, "\(most + 1) of \(token)")
    }
  }

  @Test("A long name with brackets is another spelling of each parameter of several words in it")
  func longNames() throws {
    let known = ParameterNames.atAuthorization
    for filler in ["x", "c", "cl", "client_i", "_"] {
      let long = String(repeating: filler, count: 500)
      for parameter in known.sorted where parameter.text.contains("_") {
        let name = long + "[" + parameter.text
        let first = known.sorted.first { name.contains($0.text) && $0.text.contains("_") }
        #expect(try parse(name + "=1").alternativeSpelling(of: known) == first, "\(filler) \(parameter.text)")
      }
      #expect(try parse(long + "[=1").alternativeSpelling(of: known) == nil)
    }
  }

  @Test(
    "Another spelling of a known parameter is found",
    arguments: [
      "client_id[]=x", "client_id[0]=x", "client_id%5B%5D=x", "client.id=x", "client id=x", "client+id=x",
      "%20client_id=x", "client_id%20=x", "client_id%00=x", "client_id%00y=x", "CLIENT_ID=x", "Client_Id=x",
      "a;client_id=x", "a=b;client_id=x", "amp;client_id=x", "client%255Fid=x", "?client_id=x", "%09client_id=x",
      "client_id%5B=x", "a=b;client_id[]=x", "client[id=x", "client%5Bid=x", "client%255Bid=x", "client[id]=x",
      "client]id=x", "Client[Id=x", "x[client_id]=x", "client[id[]=x", "client.[id=x", "a=b;client[id=x",
    ])
  func spellings(text: String) throws {
    #expect(try parse(text).alternativeSpelling(of: ParameterNames(.clientID)) == .clientID)
  }

  @Test(
    "A known parameter with brackets in its name is another spelling of it",
    arguments: [
      ("redirect[uri", ParameterName.redirectURI), ("redirect%5Buri", .redirectURI), ("sco[pe", .scope),
      ("[state", .state),
    ])
  func brackets(name: String, parameter: ParameterName) throws {
    let known = ParameterNames(.redirectURI, .scope, .state)
    #expect(try parse(name + "=x").alternativeSpelling(of: known) == parameter)
    for own in ["address[state]", "user[name]", "scopes[a]", "a[]"] {
      #expect(try parse(own + "=x").alternativeSpelling(of: known) == nil)
    }
  }

  @Test(
    "Other parameters are not another spelling of a known parameter",
    arguments: ["client_id=x", "client=x", "id=client_id", "a=b;c", "login_hint=a;b=c", "my_client_id=x"])
  func ordinary(text: String) throws {
    #expect(try parse(text).alternativeSpelling(of: ParameterNames(.clientID)) == nil)
  }

  @Test("The serialised form is canonical and parses to the same form")
  func serialising() throws {
    let form = FormParameters([.init("a b", "c&d=e"), .init("\u{e9}", "~-._+")])
    #expect(form.serialised == "a%20b=c%26d%3De&%C3%A9=~-._%2B")
    #expect(try parse(form.serialised) == form)
  }

  @Test("Repetitions are found by decoded name, and a malformed value is not also a repetition")
  func repetitions() throws {
    #expect(try parse("a=1&%61=2").firstRepeatedName == "a")
    #expect(try parse("a=1&a=%").firstRepeatedName == "a")
    #expect(try parse("a=1&b=2").firstRepeatedName == nil)
    #expect(
      try parse("a=1&state=1&b=2&%61=3&%73tate=").repeatedEntries.map(\.name)
        == ["a", "state", "a", "state"])
    #expect(try parse("a=1&a=%").repeatedEntries.isEmpty)
    #expect(try parse("state=1&state=2&state=%").repeatedEntries.isEmpty)
    // Equal to Swift's `==`, but two names.
    #expect(try parse("d%C3%A9=1&de%CC%81=2").repeatedEntries.isEmpty)
  }
}
