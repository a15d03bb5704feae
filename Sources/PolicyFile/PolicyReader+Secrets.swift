import OAuth
import Policy
import YAML

extension PolicyReader {
  /// `{ file: PATH }` or `{ env: NAME }`, read now, so that a missing secret shows at start and not at the first login.
  func secret(_ field: Field) -> Secret? {
    guard field.node.kind == .mapping else {
      error(
        .inlineSecret, field.node,
        "`\(field.name)` is not written into the policy; use `{ file: PATH }` or `{ env: NAME }`")
      return nil
    }
    var places: [(key: SecretKey, field: Field)] = []
    fields(field.node, named: field.name, SecretKey.self) { places.append(($0, $1)) }
    guard let place = places.first, places.count == 1 else {
      if places.count > 1 || field.node.count == 0 {
        error(.conflict, field.node, "`\(field.name)` needs either `file` or `env`; give one of them")
      }
      return nil
    }
    guard sources.readsSecrets else { return text(place.field) == nil ? nil : Self.unreadSecret }
    switch place.key {
    case .file: return secretFile(place.field)
    case .env: return secretVariable(place.field)
    }
  }

  /// The value of every secret that is not read; long enough for every check of a secret's strength.
  static let unreadSecret = Secret("not-read-not-read-not-read-not-read-not-read")

  /// `{ file: PATH }` of a file that is read elsewhere; this only checks that it can be read.
  func file(_ field: Field) -> FileReference? {
    var reference: FileReference?
    fields(field.node, named: field.name, FileKey.self) { _, field in
      guard let path = path(field) else { return }
      guard sources.readsSecrets else {
        reference = FileReference(path: path)
        return
      }
      guard secretBytes(path, field, hint: "`proofgate keys generate --file \(path)` makes one") != nil else { return }
      reference = FileReference(path: path)
    }
    if field.node.kind == .mapping, field.node.count == 0 {
      error(.missingKey, field.node, "`\(field.name)` has no `file`; add `file: PATH`")
    }
    return reference
  }

  /// A path, resolved against the file that names it.
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
      error(.unreadableSecret, field.node, "secret file \(quoted(path)) is not UTF-8 text")
      return nil
    }
    if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
    guard !text.isEmpty else {
      error(.unreadableSecret, field.node, "secret file \(quoted(path)) is empty; put the secret into it")
      return nil
    }
    return text
  }

  /// - Parameter hint: what to do when there is no such file.
  func secretBytes(_ path: String, _ field: Field, hint: String = "create it, or name another") -> [UInt8]? {
    do {
      // Generous for a secret or a key ring, and too little to hurt.
      let bytes = try FileSystem.read(path, limit: 64 << 10)
      if FileSystem.isWorldReadable(path) {
        warn(
          .exposedSecretFile, field.node,
          "everybody on this machine may read \(quoted(path)); take the right away with `chmod o-r`")
      }
      return bytes
    } catch {
      let advice = error == .missing ? "; \(hint)" : ""
      self.error(.unreadableSecret, field.node, "secret file \(quoted(path)) \(error.text)\(advice)")
      return nil
    }
  }
}
