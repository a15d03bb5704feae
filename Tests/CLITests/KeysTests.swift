import Testing

@Suite("proofgate keys")
struct KeysTests {
  @Test("A generated file is readable by its owner only and is never overwritten (I-secrets)")
  func generate() throws {
    let folder = try Folder()
    #expect(try Program.run("keys", "generate", "--file", folder.path("keys")).code == 0)
    #expect(try folder.mode("keys") == 0o600)
    let first = try folder.read("keys")
    let again = try Program.run("keys", "generate", "--file", folder.path("keys"))
    #expect(again.code == 2)
    #expect(again.errorLines.count == 1)
    #expect(again.errors.contains("exists"))
    #expect(try folder.read("keys") == first)
  }

  @Test("`keys list` gives each key's id, age and state, and no secret")
  func list() throws {
    let folder = try Folder()
    let path = folder.path("keys")
    _ = try Program.run("keys", "generate", "--file", path)
    _ = try Program.run("keys", "rotate", "--file", path)
    let outcome = try Program.run("keys", "list", "--file", path)
    #expect(outcome.code == 0)
    let rows = outcome.output.split(separator: "\n").map { $0.split(separator: " ") }
    #expect(rows.map(\.count) == [3, 3])
    #expect(rows.map(\.last) == ["seals", "opens"])
    let text = try folder.read("keys")
    #expect(rows.joined().allSatisfy { text.contains($0) })
  }

  @Test("A new file can have a registration key, and `keys list` says in how many quarters it sealed ids")
  func registration() throws {
    let folder = try Folder()
    let path = folder.path("keys")
    #expect(try Program.run("keys", "generate", "--registration", "--file", path).code == 0)
    let rows = try Program.run("keys", "list", "--file", path).output.split(separator: "\n")
    #expect(rows.count == 2)
    #expect(rows.last?.hasPrefix("registration  ") == true)
    #expect(rows.last?.hasSuffix("  seals  ids of one quarter") == true, "\(rows)")
    let id = try #require(rows.last?.split(separator: " ").dropFirst().first.map(String.init))
    for _ in 0..<2 { _ = try Program.run("keys", "rotate", "--registration", "--file", path) }
    let refused = try Program.run("keys", "retire", id, "--file", path)
    #expect(refused.code == 1)
    #expect(refused.errors.contains("the client ids of one quarter end with registration key \(id)"))
    #expect(try Program.run("keys", "retire", id, "--now", "--file", path).code == 0)
    #expect(try Program.run("keys", "list", "--file", path).output.contains("  retired"))
  }

  @Test("A file in a missing folder gives one line and ends with 2")
  func noFolder() throws {
    let outcome = try Program.run("keys", "generate", "--file", "/no/such/folder/keys")
    #expect(outcome.code == 2)
    #expect(
      outcome.errors
        == "proofgate: error: /no/such/folder/keys cannot be written: No such file or directory; create its directory "
        + "first\n")
  }

  @Test("A rotation adds a key that opens, then makes it seal, and then the old key can be retired")
  func rotate() throws {
    let folder = try Folder()
    let path = folder.path("keys")
    _ = try Program.run("keys", "generate", "--file", path)
    let old = try #require(KeysTests.rows(try folder.read("keys")).first)
    #expect(old.state == "seals")

    #expect(try Program.run("keys", "retire", old.id, "--file", path).code == 1)
    #expect(try Program.run("keys", "retire", "00000000", "--file", path).errors.contains("there is no key 00000000"))

    #expect(try Program.run("keys", "rotate", "--file", path).errors.contains("added"))
    #expect(KeysTests.rows(try folder.read("keys")).map(\.state) == ["seals", "opens"])
    #expect(try Program.run("keys", "rotate", "--file", path).code == 0)
    #expect(KeysTests.rows(try folder.read("keys")).map(\.state) == ["opens", "seals"])
    #expect(try Program.run("keys", "retire", old.id, "--now", "--file", path).code == 0)
    let rows = KeysTests.rows(try folder.read("keys"))
    #expect(rows.map(\.state) == ["retired", "seals"])
    #expect(rows[0].key == "-")
    #expect(try folder.mode("keys") == 0o600)
  }

  @Test("A misspelt key id gets a suggestion", arguments: [(7, Int32(64)), (8, 1)])
  func suggestion(_ length: Int, _ code: Int32) throws {
    let folder = try Folder()
    let path = folder.path("keys")
    _ = try Program.run("keys", "generate", "--file", path)
    let id = try #require(KeysTests.rows(try folder.read("keys")).first).id
    let last: Character = id.last == "0" ? "1" : "0"
    let wrong = String(id.dropLast()) + (length == 8 ? String(last) : "")
    let outcome = try Program.run("keys", "retire", wrong, "--file", path)
    #expect(outcome.code == code)
    #expect(outcome.errors.contains("; did you mean `\(id)`?"), "\(outcome.errors)")
  }

  /// Writes a key file whose first key sealed until `end`, and returns its path.
  private static func rotated(_ folder: Folder, until end: String) throws -> String {
    let path = folder.path("keys")
    for command in ["generate", "rotate", "rotate"] { _ = try Program.run("keys", command, "--file", path) }
    let lines = try folder.read("keys").split(separator: "\n").map { line in
      guard line.contains(" opens ") else { return String(line) }
      return line.split(separator: " ").dropLast().joined(separator: " ") + " \(end)"
    }
    return try folder.write("keys", lines.joined(separator: "\n") + "\n")
  }

  @Test("A key is not retired while the policy lets its values live, and the date and the setting are named")
  func retireTooEarly() throws {
    let folder = try Folder()
    let path = try KeysTests.rotated(folder, until: "2099-03-01T08:00:00Z")
    let policy = try folder.write("policy.yaml", ServedPolicy().text)
    let old = try #require(KeysTests.rows(try folder.read("keys")).first)
    let text = try folder.read("keys")

    let refused = try Program.run("keys", "retire", old.id, "--policy", policy, "--file", path)
    #expect(refused.code == 1)
    #expect(
      refused.errors.contains(
        "key \(old.id) can be retired from 2099-05-31T08:00:00Z on: it sealed until 2099-03-01T08:00:00Z, a replica "
          + "may load the next key up to 1 d later, and a value is valid for up to 90 d (`refresh_idle` of client "
          + "`com.example.mail`)"))
    #expect(refused.errors.contains("`--now` retires the key at once"))
    #expect(!refused.errors.contains("`--policy FILE`"))

    let general = try Program.run("keys", "retire", old.id, "--file", path)
    #expect(general.code == 1)
    #expect(general.errors.contains("3650 d (the longest `refresh_idle` that a policy may set)"))
    #expect(general.errors.contains("`--policy FILE`"))
    #expect(try folder.read("keys") == text)

    let forced = try Program.run("keys", "retire", old.id, "--now", "--policy", policy, "--file", path)
    #expect(forced.code == 0)
    #expect(forced.errors.contains("refresh tokens that it sealed are refused, and their users have to sign in again"))
    #expect(KeysTests.rows(try folder.read("keys")).map(\.state) == ["retired", "seals"])
  }

  @Test("A key whose values have all expired is retired without --now")
  func retireInTime() throws {
    let folder = try Folder()
    let path = try KeysTests.rotated(folder, until: "2001-03-01T08:00:00Z")
    let old = try #require(KeysTests.rows(try folder.read("keys")).first)
    let outcome = try Program.run("keys", "retire", old.id, "--file", path)
    #expect(outcome.code == 0)
    #expect(outcome.errors == "proofgate: key \(old.id) is retired; no value that it sealed is valid any more\n")
  }

  @Test("A policy with errors retires no key")
  func retireWithBrokenPolicy() throws {
    let folder = try Folder()
    let path = try KeysTests.rotated(folder, until: "2001-03-01T08:00:00Z")
    let policy = try folder.write("policy.yaml", ServedPolicy().text.replacing("type: public", with: "type: publik"))
    let old = try #require(KeysTests.rows(try folder.read("keys")).first)
    let outcome = try Program.run("keys", "retire", old.id, "--policy", policy, "--file", path)
    #expect(outcome.code == 1)
    #expect(outcome.errors.contains("publik"))
    #expect(KeysTests.rows(try folder.read("keys")).map(\.state) == ["opens", "seals"])
    #expect(try Program.run("keys", "list", "--file", path).output.contains("opens  sealed until 2001-03-01T08:00:00Z"))
  }

  @Test("Without --file keys are read from standard input and written to standard output")
  func filter() throws {
    let generated = try Program.run("keys", "generate")
    let rotated = try Program.run("keys", "rotate", input: generated.output)
    #expect(rotated.code == 0)
    #expect(KeysTests.rows(rotated.output).map(\.state) == ["seals", "opens"])
  }

  @Test("A malformed file is refused with positions and stays unchanged")
  func malformed() throws {
    let folder = try Folder()
    let path = try folder.write("keys", "# keys\n3f9a01c2 yesterday short seals\n")
    let outcome = try Program.run("keys", "rotate", "--file", path)
    #expect(outcome.code == 1)
    #expect(outcome.errors.contains("\(path):2:10: error: "))
    #expect(outcome.errors.contains("\(path):2:20: error: "))
    #expect(try folder.read("keys") == "# keys\n3f9a01c2 yesterday short seals\n")
  }

  private static func rows(_ text: String) -> [(id: String, key: String, state: String)] {
    text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let words = line.split(separator: " ").map(String.init)
      return (words[0], words[2], words[3])
    }
  }
}
