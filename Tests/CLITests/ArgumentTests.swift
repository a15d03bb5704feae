import Testing

@Suite("Arguments")
struct ArgumentTests {
  @Test(
    "Wrong arguments end with 64 and name the error",
    arguments: [
      (["serve"], "no policy is named"),
      (["serve", "--polcy", "x"], "`proofgate serve` has no option `--polcy`; did you mean `--policy`?"),
      (["serve", "a.yaml", "--policy", "b.yaml"], "more than one policy"),
      (["check", "-", "-"], "once only"), (["check"], "<file>"),
      (["check", "--format", "xml", "x"], "`--format` cannot be `xml`; the values are `text`, `json`, `sarif`"),
      (["check", "--format=jsn", "x"], "`--format` cannot be `jsn`; did you mean `json`?"),
      (["check", "x", "--format"], "missing value for `--format <format>`"),
      (
        ["--generate-completion-script", "bsh"], "`--generate-completion-script` cannot be `bsh`; did you mean `bash`?"
      ),
      (["--generate-completion-script=tcsh"], "the values are `bash`, `zsh`, `fish`"),
      (
        ["keys", "retire", "XYZ"], "`XYZ` is not a key id (eight lower-case hexadecimal digits); `proofgate keys list`"
      ),
      (["rules", "pkce-require"], "did you mean `pkce-required`?"),
      (["rules", "x"], "`proofgate rules` lists all rules"),
      (["explain", "p.yaml"], "no request is given"), (["explain", "p.yaml", "x"], "begins neither with `curl`"),
      (["explain", "p.yaml", "/x", "--file", "y"], "given twice"),
      (["explain", "--jso", "a", "b"], "`proofgate explain` has no option `--jso`; did you mean `--json`?"),
      (["explain", "--log", "-", "--jso"], "has no option `--jso`"),
      (["explain"], "no policy is named; use `proofgate explain POLICY REQUEST`"),
      (["explain", "--policy", "p.yaml"], "no request is given"),
      (["explain", "p.yaml", "/x", "--policy", "p.yaml"], "more than one policy is named"),
      (["explain", "/x", "--policy", "p.yaml", "--policy", "q.yaml"], "more than one policy is named"),
      (["demo", "--no-such-option"], "`--no-such-option`; `proofgate demo --help` lists its options"),
      (["demo", "--port", "70000"], "a port is a number from 0 to 65535"),
      (["check", "-q", "x"], "`proofgate check` has no option `-q`"), (["--versio"], "did you mean `--version`?"),
      (["keys", "list", "x"], "unexpected argument `x`"),
      (["demo", "--port", "x"], "`--port <port>` cannot be `x`; a port is a number from 0 to 65535"),
      (["probe", "http://127.0.0.1:1", "--timeout", "soon"], "`--timeout <time>` cannot be `soon`"),
      (["serve", "p.yaml", "--watch=yes"], "`--watch` takes no value; remove `=yes`"),
      // Values that contain words of the parser's own messages.
      (["serve", "p.yaml", "--watch=' was specified"], "`--watch` takes no value; remove `=' was specified`"),
      (["serve", "p.yaml", "--watch='"], "remove `='`"),
      (["serve", "--watch=' does not take any value, but '"], "proofgate: error: "),
      (["demo", "--port", "' is invalid for '"], "proofgate: error: "), (["demo", "--port", "'"], "cannot be `'`"),
    ])
  func wrongArguments(_ arguments: [String], _ said: String) throws {
    let child = try Child(arguments)
    let errors = child.readErrors()
    #expect(errors.contains(said))
    #expect(errors.hasPrefix("proofgate: error: "))
    #expect(errors.contains("\nUsage: proofgate"))
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

  @Test("What follows `--`, and values that look like commands, are no options")
  func noOptions() throws {
    let behind = try Program.run("check", "--", "--fromat")
    #expect(behind.code == 2)
    #expect((behind.output + behind.errors).contains("`--fromat` does not exist"))
    let value = try Program.run("serve", "x.yaml", "--log", "check", "--wath")
    #expect(
      value.errors.hasPrefix("proofgate: error: `proofgate serve` has no option `--wath`; did you mean `--watch`?"))
  }

  @Test("`--version` and `-V` name the linked libraries", arguments: ["--version", "-V"])
  func version(_ option: String) throws {
    let outcome = try Program.run(option)
    #expect(outcome.code == 0)
    #expect(outcome.output.hasPrefix("proofgate 0.1.0\nOpenSSL 3."))
    for library in ["nghttp2 1.", "SQLite 3.", "hiredis ", "libyaml 0.", "glibc 2.", "Swift 6."] {
      #expect(outcome.output.contains("\n\(library)"), "\(library)")
    }
  }
}
