import Cryptography
import OAuth
import Policy
import YAML

/// The mapping form of `store:`, `{ memory: SIZE }` or `{ file: PATH, size: SIZE }`.
struct StoreDraft: SectionDraft {
  var memory: Int?
  var file: String?
  var fileSize: Int?

  static let table = SettingTable<StoreDraft>(
    "store", "The store of one process, in its memory or in a file.", alternativeRequiredKeys: [["memory"], ["file"]],
    [
      // Below 1 MiB some kinds of entry would have room for only a few entries.
      .number(
        "memory", \.memory, .size(1_048_576...1_099_511_627_776),
        "The most bytes of all entries together; memory is allocated when entries are added", default: "`128MiB`"),
      .customReader(
        "file", .text("file name"),
        """
        A file that outlives the process, relative to the file that names it; it is created if it is missing, in a \
        directory that exists. Only one gateway can use it
        """, default: "none"),
      .number(
        "size", \.fileSize, .size(1_048_576...1_099_511_627_776), "The most bytes of all entries of `file` together",
        default: "`256MiB`"),
    ]
  ) { StoreDraft() }

  fileprivate static let section = Section<StoreDraft>(table, ["file": { $2.file = $0.path($1) }])
}

/// The settings of a Redis server that are not in its URL.
struct SharedStoreDraft {
  var password: Secret?
  var sentinelPassword: Secret?
  var authorities: CertificateChain?
  var keyPrefix: String?
}

extension PolicyReader {
  /// Reads `store:`, a word, a URL or a mapping.
  func store(_ field: Field) -> StoreLocation? {
    if field.node.kind == .mapping { return localStore(field) }
    guard let text = text(field) else { return nil }
    if text == "memory" { return .memory() }
    if text.hasPrefix("redis") { return redisStore(field, text) }
    error(
      .invalidValue, field.node,
      "`store` cannot be \(PolicyReader.shown(text)); use `memory`, `{ memory: SIZE }`, `{ file: PATH }` or "
        + "`redis://HOST:PORT/DB`")
    return nil
  }

  private func localStore(_ field: Field) -> StoreLocation? {
    var store = StoreDraft()
    read(field.node, StoreDraft.section, into: &store)
    if field.node.count == 0 {
      error(.missingKey, field.node, "`store` is empty; add `memory: SIZE` or `file: PATH`")
    }
    if let file = store.file {
      guard store.memory == nil else {
        error(.conflict, field.node, "`store` needs either `memory` or `file`; give one of them")
        return nil
      }
      return .file(path: file, size: store.fileSize ?? StoreLocation.defaultFileSize)
    }
    if store.fileSize != nil {
      error(.conflict, field.node, "`size` is the size of a store in a `file`; add `file: PATH`, or use `memory: SIZE`")
    }
    return store.memory.map { .memory(size: $0) }
  }

  private func redisStore(_ field: Field, _ url: String) -> StoreLocation? {
    do throws(RedisURLError) {
      return .redis(try RedisSettings(url: url))
    } catch {
      self.error(
        error == .password ? .inlineSecret : .invalidValue, field.node,
        "`store` cannot be \(PolicyReader.shown(url)); it \(error.text)")
      return nil
    }
  }

  /// Returns the text in backticks, or `this URL` if the text contains an `@`, because the part of a URL in front of
  /// the `@` may contain a password.
  private static func shown(_ text: String) -> String { text.contains("@") ? "this URL" : quoted(text) }

  /// Reads `store_key_prefix`.
  func keyPrefix(_ field: Field) -> String? {
    guard let text = text(field) else { return nil }
    // The prefix is part of an ACL rule and of the pattern of `SCAN`, in which these characters would not be literal.
    let patternCharacters = "*?[]\\".utf8
    guard (1...64).contains(text.utf8.count),
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && !patternCharacters.contains($0) })
    else {
      error(
        .invalidValue, field.node,
        "`store_key_prefix` cannot be \(quoted(text)); use 1 to 64 visible ASCII characters without `*?[]\\`")
      return nil
    }
    return text
  }

  /// The settings that only a Redis server has.
  private static let sharedStoreKeys = [
    "store_password", "store_sentinel_password", "store_ca", "store_key_prefix", "store_min_replicas", "store_size",
    "store_epoch",
  ]

  /// Adds the settings of `draft` to those in the URL of the Redis server. Reports settings without effect.
  func apply(_ draft: SharedStoreDraft, _ fields: Fields, to settings: inout GatewaySettings) {
    guard case .redis(var redis) = settings.store else {
      // If the value of `store` is invalid, the operator may have meant a Redis server, and its error is reported.
      if let store = fields["store"], store.node.kind != .mapping, store.node.text != "memory" { return }
      for key in PolicyReader.sharedStoreKeys {
        guard let field = fields[key] else { continue }
        error(.conflict, field.key, "`\(key)` has no effect without a Redis server as `store`; remove it")
      }
      return
    }
    redis.password = draft.password
    redis.sentinelPassword = draft.sentinelPassword
    redis.minReplicas = settings.storeMinReplicas
    redis.size = settings.storeSize ?? RedisSettings.defaultSize
    redis.gateways = settings.replicas
    if let prefix = draft.keyPrefix { redis.keyPrefix = prefix }
    if redis.user != nil, redis.password == nil, fields["store_password"] == nil, let store = fields["store"] {
      error(.conflict, store.node, "`store` names a user without a password; add `store_password`")
    }
    if case .sentinels = redis.endpoint {
    } else if let field = fields["store_sentinel_password"] {
      error(.conflict, field.key, "`store_sentinel_password` has no effect without sentinels in `store`; remove it")
    }
    if redis.usesTLS {
      redis.authorities = storeAuthorities(draft, fields)
    } else if let field = fields["store_ca"] {
      error(.conflict, field.key, "`store_ca` has no effect without TLS; use `rediss://` in `store` or remove it")
    }
    settings.store = .redis(redis)
  }

  private func storeAuthorities(_ draft: SharedStoreDraft, _ fields: Fields) -> CertificateChain? {
    if fields["store_ca"] != nil { return draft.authorities }
    let authorities = systemAuthorities()
    if authorities == nil, let store = fields["store"] {
      error(
        .upstreamAuthority, store.node,
        "the certificate of the store cannot be verified: this machine has no authorities; name a PEM file in "
          + "`store_ca`")
    }
    return authorities
  }
}
