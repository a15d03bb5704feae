import Sealing
import Testing
import Time

@Suite("Key rings and key files")
struct KeyRingTests {
  private let now: UnixTime = 1_795_000_000

  private func sealer(_ file: KeyFile) throws -> Sealer {
    Sealer(keyRing: try #require(file.ring), issuer: "https://id.example.com")
  }

  @Test("A generated file parses to keys that open the values of its ring")
  func roundTrip() throws {
    let file = KeyFile.generate(now: now)
    let read = try KeyFile(parsing: file.render())
    #expect(read.render() == file.render())
    #expect(try sealer(read).open(sealer(file).seal([1, 2], for: .code), as: .code) == [1, 2])
    #expect(file.render().contains("2026-11-18T11:06:40Z"))
  }

  @Test("In a rotation a new key opens on all replicas before it seals, and the old key still opens")
  func rotation() throws {
    var file = KeyFile.generate(now: now)
    let behind = try sealer(file)
    let first = try #require(file.ring).sealingKeyID
    let old = behind.seal([1], for: .refresh)

    guard case .added(let second) = file.rotate(now: now) else {
      Issue.record("the first step adds a key")
      return
    }
    #expect(try #require(file.ring).sealingKeyID == first)
    let loaded = try sealer(try KeyFile(parsing: file.render()))

    let step = file.rotate(now: now + 60)
    #expect(step == .promoted(second))
    let ahead = try sealer(try KeyFile(parsing: file.render()))
    #expect(ahead.keyRing.sealingKeyID == second)
    let new = ahead.seal([2], for: .refresh)
    #expect(try loaded.open(new, as: .refresh) == [2])
    #expect(try ahead.open(old, as: .refresh) == [1])
    #expect(throws: OpenError.unknownKey(second)) { try behind.open(new, as: .refresh) }
    // The demoted key is older than the one that seals, so the next step adds a key and does not go back.
    guard case .added(let third) = file.rotate(now: now + 120) else {
      Issue.record("a rotation begins with a new key")
      return
    }
    #expect(third != first && third != second)
  }

  @Test("A retired key is known, opens nothing and is not in the file")
  func retirement() throws {
    var file = KeyFile.generate(now: now)
    let first = try #require(file.ring).sealingKeyID
    let old = try sealer(file).seal([1], for: .code)
    let retiredWhileSealing = file.retire(first)
    #expect(!retiredWhileSealing)
    _ = file.rotate(now: now)
    _ = file.rotate(now: now)
    let retired = file.retire(first)
    #expect(retired)
    let retiredUnknown = file.retire(try #require(KeyID("00000000")))
    #expect(!retiredUnknown)
    let read = try KeyFile(parsing: file.render())
    #expect(read.render().contains("\(first)   2026-11-18T11:06:40Z  -"))
    #expect(throws: OpenError.retiredKey(first)) { try sealer(read).open(old, as: .code) }
  }

  private func recorded(_ file: KeyFile) -> [String?] { file.keys.map(\.sealedUntilText) }

  @Test("A rotation records until when the old key sealed, and retirement is possible a lifetime and a day later")
  func retirementTime() throws {
    var file = KeyFile.generate(now: now)
    let first = try #require(file.ring).sealingKeyID
    guard case .added(let second) = file.rotate(now: now) else {
      Issue.record("the first step adds a key")
      return
    }
    #expect(file.retirement(of: first, lifetime: 60) == .sealingKey)
    #expect(file.retirement(of: second, lifetime: 60) == .unused)
    #expect(recorded(file) == [nil, nil])
    // Weeks may pass between the two steps. The old key seals until the second one.
    _ = file.rotate(now: now + 86_400)
    file = try KeyFile(parsing: file.render())
    #expect(recorded(file) == ["2026-11-19T11:06:40Z", nil])
    let possible = KeyFile.Retirement.possible(from: now + 172_860, sealedUntil: now + 86_400)
    #expect(file.retirement(of: first, lifetime: 60) == possible)
    // A later rotation does not change the time.
    _ = file.rotate(now: now + 259_200)
    _ = file.rotate(now: now + 345_600)
    #expect(recorded(file) == ["2026-11-19T11:06:40Z", "2026-11-22T11:06:40Z", nil])
    let isRetired = file.retire(first)
    #expect(isRetired)
    #expect(file.retirement(of: first, lifetime: 60) == .retired)
    let unknown = try #require(KeyID("00000000"))
    #expect(file.retirement(of: unknown, lifetime: 60) == .unknownKey)
  }

  @Test("For a key that was rotated without a record the time is unknown, until the next rotation records it")
  func unrecordedRetirement() throws {
    let key = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHy"
    var file = try KeyFile(
      parsing: """
        00000001 2026-01-01T00:00:00Z \(key)A opens
        00000002 2026-02-01T00:00:00Z \(key)E seals
        """)
    let old = try #require(KeyID("00000001"))
    #expect(file.retirement(of: old, lifetime: 60) == .unrecorded)
    _ = file.rotate(now: now)
    #expect(recorded(file) == ["2026-11-18T11:06:40Z", nil, nil])
    #expect(file.retirement(of: old, lifetime: 60) == .possible(from: now + 86_460, sealedUntil: now))
  }

  @Test("A wrong end of sealing is refused, and so is one of a key that seals")
  func sealedUntil() throws {
    let key = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHy"
    let error = #expect(throws: KeyFileError.self) {
      try KeyFile(
        parsing: """
          00000001 2026-01-01T00:00:00Z \(key)A opens yesterday
          00000002 2026-02-01T00:00:00Z \(key)E seals 2026-03-01T00:00:00Z
          """)
    }
    #expect(
      try #require(error).description == """
        1:81: `yesterday` is not a time like `2026-11-21T08:30:00Z`
        2:81: a key that seals has no time until which it sealed; remove the fifth field
        """)
  }

  @Test("If several keys can seal, the newest one seals")
  func newest() throws {
    let key = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHy"
    let file = try KeyFile(
      parsing: """
        00000002 2026-02-01T00:00:00Z \(key)A seals
        00000001 2026-01-01T00:00:00Z \(key)E seals # older
        00000003 2026-03-01T00:00:00Z \(key)I opens
        """)
    #expect(file.ring?.sealingKeyID.description == "00000002")
  }

  @Test("Every problem of a key file is reported with its place, and no key is quoted")
  func problems() throws {
    let good = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA"
    let text = """
      # a comment
      0000000G 2026-02-30T00:00:00Z \(good) seal

      00000001 2026-01-01T00:00:00Z AQID opens
      00000002 2026-01-01T00:00:00Z
        00000003 2026-01-01T00:00:00Z \(good) seals
      00000003 2026-01-01T00:00:00Z \(good) seals
      00000004 2026-01-01T00:00:00Z \(good) opens
      00000005 2026-01-01T00:00:00Z \(String(repeating: "A", count: 43)) opens
      """
    let error = #expect(throws: KeyFileError.self) { try KeyFile(parsing: text) }
    #expect(
      try #require(error).description == """
        2:1: key id `0000000G` is not eight lower-case hexadecimal digits
        2:10: `2026-02-30T00:00:00Z` is not a time like `2026-11-21T08:30:00Z`
        2:75: state `seal` is not one of `opens`, `seals`, `retired`
        4:31: the key is not 32 bytes in base64url (43 characters, no padding)
        5:1: a key has four fields (id, created, key, state) or five (and `sealed until`), this line has 2
        7:1: key id `00000003` is in the file twice
        8:31: this key is in the file twice, under different ids
        9:31: the key is all zeros; `proofgate keys generate` makes a random one
        """)
  }

  @Test("I-secrets: a key in the place of another field is not quoted")
  func misplacedKey() throws {
    let key = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA"
    let error = #expect(throws: KeyFileError.self) { try KeyFile(parsing: "\(key) \(key) \(key) \(key)") }
    #expect(try #require(error).problems.count == 3)
    #expect(try #require(error).description.contains(key) == false)
  }

  @Test("A file without a key that seals is refused", arguments: ["", "# nothing\n", "\n\n"])
  func nothingSeals(text: String) {
    #expect(throws: KeyFileError.self) { try KeyFile(parsing: text) }
  }

  @Test("A file with carriage returns at its line ends is accepted")
  func carriageReturns() throws {
    let file = KeyFile.generate(now: now)
    #expect(try KeyFile(parsing: file.render().replacing("\n", with: "\r\n")).keys.count == 1)
  }

  @Test(
    "Times in the file are written and parsed without change, including leap days",
    arguments: [
      "1970-01-01T00:00:00Z", "2000-02-29T23:59:59Z", "2024-02-29T12:00:00Z", "2026-12-31T23:59:59Z",
      "2100-03-01T00:00:00Z", "9999-12-31T23:59:59Z",
    ])
  func times(text: String) throws {
    let line = "00000001 \(text) AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA seals"
    #expect(try KeyFile(parsing: line).render().contains(text))
  }

  @Test(
    "Invalid dates and times in another format are refused",
    arguments: [
      "2100-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z",
      "2026-01-01t00:00:00Z", "2026-01-01T00:00:00+", "2026-01-01", "1969-12-31T23:59:59Z", "2026-00-10T00:00:00Z",
    ])
  func badTimes(text: String) {
    let line = "00000001 \(text) AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA seals"
    #expect(throws: KeyFileError.self) { try KeyFile(parsing: line) }
  }

  @Test("I-secrets: rings, keys and files do not print their secrets")
  func printing() throws {
    let file = KeyFile.generate(now: now)
    let secret = try #require(file.render().split(separator: " ").first { $0.utf8.count == 43 })
    let ring = try #require(file.ring)
    var dumped = ""
    dump(file, to: &dumped)
    dump(ring, to: &dumped)
    dumped += "\(file) \(ring) \(ring.keys)"
    #expect(!dumped.contains(secret))
    #expect(!dumped.contains("secret"))
  }

  @Test("An ephemeral ring is marked as such, and no other ring opens its values")
  func ephemeral() throws {
    let ring = KeyRing.ephemeral(now: now)
    #expect(ring.isEphemeral)
    #expect(try #require(KeyFile.generate(now: now).ring).isEphemeral == false)
    let text = Sealer(keyRing: ring, issuer: "i").seal([1], for: .code)
    #expect(throws: OpenError.unknownKey(ring.sealingKeyID)) {
      try Sealer(keyRing: .ephemeral(now: now), issuer: "i").open(text, as: .code)
    }
  }
}
