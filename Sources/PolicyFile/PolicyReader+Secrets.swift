import OAuth
import Policy
import YAML

/// The mapping of a secret: `{ file: PATH }` or `{ env: NAME }`.
struct SecretDraft: SectionDraft {
  var file: Field?
  var variable: Field?

  static let table = SettingTable<SecretDraft>(
    "secret", "A secret, read when the policy is loaded. One of the two keys.", requiresExactlyOneKey: true,
    [
      .customReader(
        "file", .text("file name"),
        "A file that contains the secret, relative to the file that names it; one line end is removed",
        default: "none"),
      .customReader("env", .text(), "An environment variable that contains the secret", default: "none"),
    ]
  ) { SecretDraft() }

  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  fileprivate static let section = Section<SecretDraft>(table, ["file": { $2.file = $1 }, "env": { $2.variable = $1 }])
}

/// The mapping of a file: `{ file: PATH }`.
struct FileDraft: SectionDraft {
  var file: Field?

  static let table = SettingTable<FileDraft>(
    "file", "A file, relative to the file that names it.",
    [.customReader("file", .text("file name"), "Its path", adviceIfMissing: "`file: PATH`")]
  ) { FileDraft() }

  fileprivate static let section = Section<FileDraft>(table, ["file": { $2.file = $1 }])
}

extension PolicyReader {
  /// Reads the secret that `{ file: PATH }` or `{ env: NAME }` refers to, so that a missing secret is reported when the
  /// policy is loaded and not at the first sign-in.
  func secret(_ field: Field) -> Secret? {
    guard field.node.kind == .mapping else {
      error(
        .inlineSecret, field.node,
        "`\(field.name)` must not be in the policy itself; use `{ file: PATH }` or `{ env: NAME }`")
      return nil
    }
    var draft = SecretDraft()
    let fields = read(field.node, SecretDraft.section, named: field.name, into: &draft)
    guard let source = fields?.all.first, fields?.all.count == 1 else {
      // `read` does not check the number of keys. It has already reported unknown keys and keys without a value.
      if fields?.all.count == 2 || field.node.count == 0 {
        error(.conflict, field.node, "`\(field.name)` needs either `file` or `env`; give one of them")
      }
      return nil
    }
    guard sources.readsSecrets else { return text(source) == nil ? nil : Self.unreadSecret }
    return draft.file.flatMap(secretFile) ?? draft.variable.flatMap(secretVariable)
  }

  /// The placeholder for a secret that is not read. It is long enough to pass the check of a secret's strength.
  static let unreadSecret = Secret("not-read-not-read-not-read-not-read-not-read")

  /// Returns the path of `{ file: PATH }`. The content of the file is used later, but the method already reports an
  /// unreadable file, unless `PolicySources.readsSecrets` is false.
  func file(_ field: Field) -> FileReference? {
    var draft = FileDraft()
    read(field.node, FileDraft.section, named: field.name, into: &draft)
    if field.node.kind == .mapping, field.node.count == 0 {
      error(.missingKey, field.node, "`\(field.name)` has no `file`; add `file: PATH`")
    }
    guard let file = draft.file, let path = path(file) else { return nil }
    let hint = "`proofgate keys generate --file \(path)` makes one"
    guard !sources.readsSecrets || secretBytes(path, file, hint: hint) != nil else { return nil }
    return FileReference(path: path)
  }

  /// Returns a path. A relative path is resolved against the directory of the file that contains it.
  func path(_ field: Field) -> String? {
    text(field).map { FileSystem.resolve($0, relativeTo: field.node.document.file) }
  }

  private func secretVariable(_ field: Field) -> Secret? {
    guard let name = text(field) else { return nil }
    guard let value = environment[name] else {
      error(.unreadableSecret, field.node, "environment variable \(quoted(name)) is not set; set it or use `file`")
      return nil
    }
    guard !value.isEmpty else {
      error(.unreadableSecret, field.node, "environment variable \(quoted(name)) is empty; put the secret into it")
      return nil
    }
    return Secret(value)
  }

  /// Returns the secret in a file. Each file is read only once.
  private func secretFile(_ field: Field) -> Secret? {
    guard let path = path(field) else { return nil }
    if let known = secrets[path] { return known }
    let secret = secretText(path, field).map { Secret($0) }
    secrets[path] = .some(secret)
    return secret
  }

  private func secretText(_ path: String, _ field: Field) -> String? {
    guard let bytes = secretBytes(path, field) else { return nil }
    guard var text = String(validating: bytes, as: UTF8.self) else {
      error(.unreadableSecret, field.node, "secret file \(quoted(path)) is not UTF-8 text; name another")
      return nil
    }
    if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
    guard !text.isEmpty else {
      error(.unreadableSecret, field.node, "secret file \(quoted(path)) is empty; put the secret into it")
      return nil
    }
    return text
  }

  /// Reads a file that contains a secret, and warns if every user of the machine can read it.
  ///
  /// - Parameter hint: The advice in the message if the file does not exist.
  func secretBytes(_ path: String, _ field: Field, hint: String = "create it, or name another") -> [UInt8]? {
    contentFiles.append(path)
    do {
      // 64 KiB are more than any secret or key ring needs, and use little memory.
      let bytes = try FileSystem.read(path, limit: 64 << 10)
      if FileSystem.isWorldReadable(path) {
        warn(
          .exposedSecretFile, field.node,
          "every user of this machine can read \(quoted(path)); use `chmod o-r`")
      }
      return bytes
    } catch {
      let advice = error == .missing ? hint : error.advice
      self.error(.unreadableSecret, field.node, "secret file \(quoted(path)) \(error.text); \(advice)")
      return nil
    }
  }
}
