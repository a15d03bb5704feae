import Testing

@Suite("Arguments")
struct ArgumentTests {
  @Test(
    "Wrong arguments end with 64 and name the error",
    arguments: [
      (["serve"], "no policy is named"), (["serve", "--polcy", "x"], "Did you mean '--policy'?"),
      (["serve", "a.yaml", "--policy", "b.yaml"], "more than one policy"),
      (["check", "-", "-"], "once only"), (["check"], "<file>"),
      (["check", "--format", "xml", "x"], "xml"), (["keys", "retire", "XYZ"], "`XYZ` is not a key id"),
      (["rules", "pkce-require"], "did you mean `pkce-required`?"),
      (["rules", "x"], "`proofgate rules` lists all rules"),
      (["explain", "p.yaml"], "no request is given"), (["explain", "p.yaml", "x"], "begins neither with `curl`"),
      (["explain", "p.yaml", "/x", "--file", "y"], "given twice"),
      (["demo", "--no-such-option"], "--no-such-option"), (["demo", "--port", "70000"], "70000"),
    ])
  func wrongArguments(_ arguments: [String], _ said: String) throws {
    let child = try Child(arguments)
    let errors = child.readErrors()
    #expect(errors.contains(said))
    #expect(errors.contains("Usage: proofgate"))
    #expect(child.wait() == 64)
  }

  @Test(
    "An unknown command ends with 64 and suggests the probable command",
    arguments: [("serv", "did you mean `serve`?"), ("fly", "the commands are `serve`, `check`")])
  func unknownCommand(_ name: String, _ said: String) throws {
    let outcome = try Program.run(name)
    #expect(outcome.code == 64)
    #expect(outcome.errors.hasPrefix("proofgate: error: `\(name)` is not a command; "))
    #expect(outcome.errors.contains(said))
  }

  @Test("`rules` explains a rule by its id, and lists all rules without one")
  func rules() throws {
    let one = try Program.run("rules", "pkce-required")
    #expect(one.code == 0)
    #expect(one.output.hasPrefix("pkce-required\n\nThe request had no `code_challenge`.\n\n- Why: "))
    #expect(one.output.contains("\n- Source: RFC 7636, section 4.4.1\n"))
    let all = try Program.run("rules")
    #expect(all.code == 0)
    #expect(all.output.hasPrefix("Requests\n  method-not-allowed "))
    #expect(all.output.contains("\n\nPKCE\n  pkce-required "))
  }

  @Test("`--version` names the linked libraries")
  func version() throws {
    let outcome = try Program.run("--version")
    #expect(outcome.code == 0)
    #expect(outcome.output.hasPrefix("proofgate 0.1.0\nOpenSSL 3."))
    for library in ["nghttp2 1.", "SQLite 3.", "hiredis ", "libyaml 0.", "glibc 2.", "Swift 6."] {
      #expect(outcome.output.contains("\n\(library)"), "\(library)")
    }
  }
}
