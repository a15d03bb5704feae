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

  @Test("A file in a missing folder gives one line and ends with 2")
  func noFolder() throws {
    let outcome = try Program.run("keys", "generate", "--file", "/no/such/folder/keys")
    #expect(outcome.code == 2)
    #expect(outcome.errors == "proofgate: error: /no/such/folder/keys cannot be written: No such file or directory\n")
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
    #expect(try Program.run("keys", "retire", old.id, "--file", path).code == 0)
    let rows = KeysTests.rows(try folder.read("keys"))
    #expect(rows.map(\.state) == ["retired", "seals"])
    #expect(rows[0].key == "-")
    #expect(try folder.mode("keys") == 0o600)
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
