internal import ByteText
internal import Cryptography
internal import Time

extension KeyFile {
  /// Parses the text of a key file. Throws a `KeyFileError` that lists all problems of the file.
  public init(parsing text: String) throws(KeyFileError) {
    var keys: [SealingKey] = []
    var registrationKeys: [SealingKey] = []
    var problems: [KeyFileError.Problem] = []
    var lineNumber = 0
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
      lineNumber += 1
      var fields = KeyFile.words(of: line)
      let isRegistration = fields.count > 1 && fields[0].text == KeyFile.registrationWord
      if isRegistration { fields.removeFirst() }
      guard let first = fields.first else { continue }
      var lineProblems: [(column: Int, message: String)] = []
      if let key = KeyFile.parseKey(fields, &lineProblems) {
        let others = keys + registrationKeys
        if others.contains(where: { $0.id == key.id }) {
          lineProblems.append((first.column, "key id `\(key.id)` is in the file twice"))
        } else if key.state != .retired, others.contains(where: { constantTimeEqual($0.secret, key.secret) }) {
          lineProblems.append((fields[2].column, "this key is in the file twice, under different ids"))
        } else if isRegistration {
          registrationKeys.append(key)
        } else {
          keys.append(key)
        }
      }
      problems += lineProblems.map { KeyFileError.Problem(line: lineNumber, column: $0.column, message: $0.message) }
    }
    if problems.isEmpty, KeyRing.sealingKey(of: keys) == nil {
      problems.append(
        KeyFileError.Problem(
          line: max(lineNumber, 1), column: 1,
          message: "no key has the state `seals`; `proofgate keys generate` makes a file that has one"))
    }
    guard problems.isEmpty else { throw KeyFileError(problems: problems) }
    self.init(keys: keys, registrationKeys: registrationKeys)
  }

  private typealias Field = (column: Int, text: Substring)

  /// Returns the words of a line in front of its comment. The column of a word is a number of bytes, from 1.
  private static func words(of line: Substring) -> [Field] {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    var fields: [Field] = []
    for field in line.prefix(while: { $0 != "#" }).split(whereSeparator: isSpace) {
      fields.append((line.utf8.distance(from: line.startIndex, to: field.startIndex) + 1, field))
    }
    return fields
  }

  /// Returns the text of a field for a message; `...` for a field of more than 20 bytes. A long field may be a key in
  /// the wrong column, and a key must not appear in a log.
  private static func shown(_ field: Substring) -> String {
    field.utf8.count <= 20 ? String(field) : "..."
  }

  /// Returns the key that the fields of one line describe. If the line has problems, appends them to `problems` and
  /// returns `nil`.
  private static func parseKey(_ fields: [Field], _ problems: inout [(column: Int, message: String)]) -> SealingKey? {
    guard (4...5).contains(fields.count) else {
      problems.append(
        (
          fields[0].column,
          "a key has four fields (id, created, key, state) or five (and `sealed until`), this line has \(fields.count)"
        ))
      return nil
    }
    let id = KeyID(fields[0].text)
    if id == nil {
      problems.append(
        (fields[0].column, "key id `\(shown(fields[0].text))` is not eight lower-case hexadecimal digits"))
    }
    let created = UnixTime(parsing: fields[1].text)
    if created == nil {
      problems.append((fields[1].column, "`\(shown(fields[1].text))` is not a time like `2026-11-21T08:30:00Z`"))
    }
    let state = SealingKey.State(rawValue: String(fields[3].text))
    if state == nil {
      problems.append((fields[3].column, "state `\(shown(fields[3].text))` is not one of `opens`, `seals`, `retired`"))
    }
    var secret: [UInt8] = []
    if state != .retired || fields[2].text != "-" {
      secret = Base64URL.decode(String(fields[2].text)) ?? []
      if secret.count != SealingKey.secretLength {
        problems.append((fields[2].column, "the key is not 32 bytes in base64url (43 characters, no padding)"))
      } else if secret.allSatisfy({ $0 == 0 }) {
        problems.append((fields[2].column, "the key is all zeros; `proofgate keys generate` makes a random one"))
      }
    }
    let sealedUntil = fields.count == 5 ? UnixTime(parsing: fields[4].text) : nil
    if fields.count == 5 {
      if sealedUntil == nil {
        problems.append((fields[4].column, "`\(shown(fields[4].text))` is not a time like `2026-11-21T08:30:00Z`"))
      } else if state == .seals {
        // A wrong time would permit the retirement of the key while values that it sealed are valid.
        problems.append(
          (fields[4].column, "a key that seals has no time until which it sealed; remove the fifth field"))
      }
    }
    guard let id, let created, let state, problems.isEmpty else { return nil }
    if state == .retired { wipe(&secret) }
    return SealingKey(id: id, created: created, state: state, sealedUntil: sealedUntil, secret: secret)
  }
}
