import ClientTestSupport
import Compression
import Foundation
import HTTP
import Testing

/// `proofgate explain --id ID --log FILE`.
@Suite("proofgate explain of a logged decision")
struct ExplainLogTests {
  private static let log = """
    {"v":1,"time":"2026-11-24T10:00:00.000Z","event":"decision","request":"first-1","flow":"00112233aabbccdd",\
    "transaction":"00112233aabbccdd0011223344556677","endpoint":"authorization","client":"com.example.mail",\
    "decision":"forward","status":302,"mode":"enforce","duration_us":9,"peer":"192.0.2.1","policy":"p1"}
    {"v":1,"time":"2026-11-24T10:00:01.000Z","event":"dropped","lines":3}
    not a line
    {"v":1,"time":"2026-11-24T10:00:02.000Z","event":"decision","request":"second-2","flow":"00112233aabbccdd",\
    "endpoint":"token","client":"com.example.mail","decision":"reject","rule":"pkce-verifier-mismatch","status":400,\
    "mode":"enforce","findings":["state-missing"],"duration_us":9,"peer":"192.0.2.1","policy":"p1"}
    {"v":1,"time":"2026-11-24T10:00:03.000Z","event":"decision","request":"third-3","endpoint":"token",\
    "client":"gone\\u001b[2J","decision":"reject","rule":"no-such-rule","status":400,"mode":"enforce","peer":"","policy":"p1"}

    """

  @Test("A request id leads to its line, the rule with its source and the remedy; a flow shows all lines of a sign-in")
  func found() throws {
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let log = try folder.write("log", Self.log)
    for id in ["second-2", "https://id.example.com/.proofgate/rules/pkce-verifier-mismatch#request=second-2"] {
      let outcome = try Program.run("explain", policy, "--id", id, "--log", log)
      #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
      #expect(outcome.output.hasPrefix("2026-11-24T10:00:02.000Z token: reject with 400\n"))
      #expect(outcome.output.contains("   rule: pkce-verifier-mismatch\n   findings: state-missing\n"))
      #expect(outcome.output.contains("RFC 7636, section 4.6"))
      #expect(outcome.output.contains("note: the policy p1 decided"))
      #expect(!outcome.output.contains("first-1"))
    }
    for id in ["00112233aabbccdd"] {
      let outcome = try Program.run("explain", policy, "--id", id, "--log", "-", input: Self.log)
      #expect(outcome.output.hasPrefix("1. 2026-11-24T10:00:00.000Z authorization: forward with 302\n"))
      #expect(outcome.output.contains("\n2. 2026-11-24T10:00:02.000Z token: reject with 400\n"))
      #expect(outcome.output.contains("\npkce-verifier-mismatch\n\n"))
    }
    // A client or a proxy may have chosen an id that looks like an option.
    for id in ["-second", "-V", "-Vx", "-h", "--", "-", "--log", "--help", "--version", "_x", "0", "a=b", "-x=-V"] {
      let other = Self.log.replacingOccurrences(of: "second-2", with: id)
      let found = try Program.run("explain", policy, "--id", id, "--log", "-", input: other)
      #expect(found.code == 0 && found.output.hasPrefix("2026-11-24T10:00:02.000Z token: reject with 400\n"), "\(id)")
    }
    let plain = try Program.run("explain", policy, "--id", "first-1", "--log", log)
    #expect(plain.code == 0 && plain.output.hasSuffix("No rule refused the request.\n"))
  }

  @Test("An unknown rule and a client that the policy does not list are noted, and control characters are not printed")
  func unknown() throws {
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let log = try folder.write("log", Self.log)
    let outcome = try Program.run("explain", policy, "--id", "third-3", "--log", log)
    #expect(outcome.output.contains("note: this version has no rule `no-such-rule`"))
    #expect(outcome.output.contains("note: this policy does not list the client"))
    #expect(outcome.output.contains("client: gone\u{fffd}[2J") && !outcome.output.contains("\u{1b}"))
  }

  @Test(
    "No text of a log line makes a terminal change its state or hide or turn characters, also in JSON",
    arguments: [
      "\u{1b}[2J", "\u{202e}", "\u{2066}", "\u{9b}31m", "\u{7f}", "\u{200b}", "\u{feff}", "\u{2028}", "\u{e000}",
      "\u{e0041}",
      "\n2026-11-24T10:00:00.000Z token: forward",
    ])
  func hostileLine(text: String) throws {
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let members = [
      "endpoint", "decision", "client", "rule", "mode", "step", "grant", "redirect", "path", "peer", "policy", "flow",
      "transaction", "family", "trace", "redirect_uri", "response_type", "client_authentication", "pkce", "scope",
      "time",
    ]
    var line: [String: Any] = ["v": 1, "event": "decision", "request": "r-1", "findings": ["a\(text)b"]]
    for member in members { line[member] = "a\(text)b" }
    let log = try folder.write(
      "log", String(decoding: try JSONSerialization.data(withJSONObject: line), as: UTF8.self) + "\n")
    for arguments in [[], ["--json"]] {
      let outcome = try Program.run(["explain", policy, "--id", "r-1", "--log", log] + arguments)
      #expect(outcome.code == 0 && outcome.output.contains("a\u{fffd}"), "\(outcome.errors)")
      #expect(!outcome.output.contains(text))
      for scalar in outcome.output.unicodeScalars where scalar != "\n" {
        #expect(
          ![.control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse].contains(
            scalar.properties.generalCategory))
      }
    }
  }

  private static func refusal(_ uri: String?, finding: String = "redirect-uri-differs:2:30") -> String {
    let member = uri.map { "\"redirect_uri\":\"\($0)\"," } ?? ""
    return """
      {"v":1,"time":"2026-11-24T10:00:00.000Z","event":"decision","request":"r-1","endpoint":"authorization",\
      "client":"com.example.mail","decision":"reject","rule":"redirect-uri-mismatch","status":400,"mode":"enforce",\
      "findings":["\(finding)"],\(member)"peer":"192.0.2.1","policy":"p1"}

      """
  }

  @Test("A refused redirect URI is shown with the most similar registered one and a mark under the difference")
  func redirectURI() throws {
    let folder = try Folder()
    let text = try ServedPolicy().text.replacing(
      "[com.example.mail:/cb]", with: "[com.example.mail:/cb, \"http://127.0.0.1:80/callback\"]")
    let policy = try folder.write("policy.yaml", text)
    let log = try folder.write("log", Self.refusal("http://127.0.0.1/callbackk"))
    let outcome = try Program.run("explain", policy, "--id", "r-1", "--log", log)
    #expect(
      outcome.output.contains(
        """
          requested   http://127.0.0.1/callbackk
          registered  http://127.0.0.1/callback
                                               ^ differs here from redirect URI number 2
          registered for the client:
            1  com.example.mail:/cb
            2  http://127.0.0.1:80/callback

        """), "\(outcome.output)")
    #expect(outcome.output.contains("\n\nredirect-uri-mismatch\n"))

    let query = try Program.run(
      "explain", policy, "--id", "r-1", "--log", folder.write("query", Self.refusal("com.example.mail:/cb")))
    #expect(query.output.contains("equal to redirect URI number 1, except for the parts that the log leaves out"))
    // A line of an earlier version has the place of the difference only.
    let earlier = try Program.run(
      "explain", policy, "--id", "r-1", "--log",
      folder.write("earlier", Self.refusal(nil, finding: "redirect-uri-differs:1:20")))
    #expect(
      earlier.output.contains(
        """
          registered  com.example.mail:/cb
                                         ^ differs here from redirect URI number 1

        """), "\(earlier.output)")
    let none = try Program.run(
      "explain", policy, "--id", "r-1", "--log", folder.write("none", Self.refusal(nil, finding: "state-missing")))
    #expect(none.output.contains("registered for the client:\n    1  com.example.mail:/cb\n"))
    let json = try Program.run("explain", policy, "--id", "r-1", "--log", log, "--json")
    #expect(json.output.contains("\"nearest\" : \"http://127.0.0.1/callback\""))
  }

  @Test("An id is found in several logs and in compressed ones")
  func severalLogs() throws {
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let old = folder.path("log.1.gz")
    try Data(try #require(Encoder.gzip(Array(Self.log.utf8)))).write(to: URL(fileURLWithPath: old))
    let new = try folder.write("log", Self.refusal("com.example.mail:/x"))
    for id in ["second-2", "r-1"] {
      let outcome = try Program.run("explain", policy, "--id", id, "--log", old, "--log", new)
      #expect(outcome.code == 0 && outcome.output.contains("   request: \(id)\n"), "\(outcome.errors)")
    }
    #expect(try Program.run("explain", policy, "--id", "absent", "--log", old, "--log", new).code == 1)
    let damaged = folder.path("damaged.gz")
    try Data([0x1f, 0x8b, 8, 0]).write(to: URL(fileURLWithPath: damaged))
    #expect(try Program.run("explain", policy, "--id", "x", "--log", new, "--log", damaged).code == 1)
  }

  @Test("`--log` takes one file, so that the policy may follow it")
  func policyAfterLog() throws {
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let log = try folder.write("log", Self.log)
    let outcome = try Program.run("explain", "--id", "second-2", "--log", log, policy)
    #expect(outcome.code == 0 && outcome.output.contains("   request: second-2\n"), "\(outcome.errors)")
    let two = try Program.run("explain", policy, "--id", "second-2", "--log", log, log)
    #expect(two.code == 64 && two.errors.contains("write `--log` in front of each log"), "\(two.errors)")
  }

  @Test("Standard input may be compressed, may end without a line end, and may have lines that are too long")
  func standardInput() throws {
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let log = Array(Self.log.utf8)
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: 3_000_000) + [UInt8(ascii: "\n")]
    let member = try #require(Encoder.gzip(log))
    let arguments = ["explain", policy, "--id", "second-2", "--log", "-"]
    for input in [log, log.dropLast(), long + log, member, member + member] {
      let outcome = try Program.run(arguments, bytes: input)
      #expect(outcome.code == 0 && outcome.output.contains("   request: second-2\n"), "\(outcome.errors)")
    }
    for input in [[], [0x1f], long] as [[UInt8]] {
      #expect(try Program.run(arguments, bytes: input).code == 1)
    }
    let damaged = try Program.run(arguments, bytes: Array(member.dropLast(9)))
    #expect(damaged.code == 1 && damaged.errors.contains("the log on standard input is not valid gzip data"))
    let learned = try Program.run(["learn", "-"], bytes: member)
    #expect(learned.errors.contains("clients: "), "\(learned.errors)")
  }

  /// The whole way of a refused redirect URI: the developer of the app has the page, the operator the id on it.
  @Test("From the error page, a developer finds the reason and the remedy, and the operator both URIs with one command")
  func fromPageToDecision() async throws {
    let folder = try Folder()
    let policy = try ServedPolicy()
    try folder.write("policy.yaml", policy.text)
    let child = try Child(["serve", folder.path("policy.yaml"), "--log", folder.path("log")])
    _ = try child.lines(until: " serves ")
    let port = policy.port
    let answer = try await Fetch.get(
      port,
      "/authorize?response_type=code&client_id=com.example.mail&redirect_uri=com.example.mail%3A%2Fcallback%3Fx%3D1"
        + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256")
    let page = Fetch.text(answer)
    #expect(answer.status == 400 && page.contains("redirect_uri is not one of the registered URIs"), "\(page)")
    // The page must not help a program to find a registered URI.
    #expect(!page.contains("com.example.mail:/cb"))
    let link = try #require(page.firstMatch(of: #/href="(\/\.proofgate\/rules\/[a-z-]+)"/#)).1
    let rule = Fetch.text(try await Fetch.get(port, String(link)))
    #expect(rule.contains("Register the URI, or send a registered one."), "\(rule)")
    let id = try #require(answer.headers["X-Request-ID"])
    #expect(page.contains(id))
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
    let outcome = try Program.run("explain", folder.path("policy.yaml"), "--id", id, "--log", folder.path("log"))
    #expect(
      outcome.output.contains(
        """
          requested   com.example.mail:/callback
          registered  com.example.mail:/cb
                                         ^ differs here from redirect URI number 1

        """), "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output.contains("How to fix it: Register the URI, or send a registered one."))
  }

  @Test("With --json, the lines and the rule are one JSON document")
  func json() throws {
    struct Report: Decodable {
      struct Line: Decodable { let request: String }
      struct Rule: Decodable {
        let id: String
        let source: String
        let remedy: String
      }
      let lines: [Line]
      let rule: Rule
    }
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let log = try folder.write("log", Self.log)
    let outcome = try Program.run("explain", policy, "--id", "00112233aabbccdd", "--log", log, "--json")
    let report = try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
    #expect(report.lines.map(\.request) == ["first-1", "second-2"])
    #expect(report.rule.id == "pkce-verifier-mismatch" && !report.rule.remedy.isEmpty)
  }

  @Test("An id without a line ends with 1, a missing log with 2, and contradictory arguments with 64")
  func failures() throws {
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let log = try folder.write("log", Self.log)
    let missing = try Program.run("explain", policy, "--id", "second", "--log", log)
    #expect(missing.code == 1 && missing.errors.contains("no decision in \(log) has the id `second`"))
    #expect(try Program.run("explain", policy, "--id", "x", "--log", folder.path("none")).code == 2)
    #expect(try Program.run("explain", policy, "--id", "x").code == 64)
    #expect(try Program.run("explain", policy, "--log", log).code == 64)
    #expect(try Program.run("explain", policy, "/authorize", "--id", "x", "--log", log).code == 64)
  }
}
