internal import OAuth
internal import Policy
internal import RESP
internal import Reactor

/// The first commands of a connection: authentication, the database, the role of the server, and the epoch.
struct RedisHandshake {
  /// The oldest version whose `SET` accepts both `NX` and `GET`.
  private static let oldestVersion = 7

  let settings: RedisSettings
  let epochKey: [UInt8]

  /// The facts about a server with a connection that is ready for use.
  struct Greeting {
    let epoch: RedisEpoch
    /// The value of `maxmemory-policy` if the server may evict entries; otherwise `nil`.
    let eviction: String?
  }

  /// Prepares the connection for use. Throws if the server is not a primary that executes commands.
  func perform(on link: RedisLink, until deadline: Deadline) async throws(RedisFailure) -> Greeting {
    var commands: [[[UInt8]]] = []
    if let password = settings.password {
      commands.append(
        Words.text("AUTH") + (settings.user.map { [Array($0.utf8)] } ?? []) + [Array(password.reveal().utf8)])
    }
    if settings.database != 0 { commands.append(Words.text("SELECT", "\(settings.database)")) }
    let preparations = commands.count
    commands += [
      Words.text("ROLE"), Words.text("INFO", "server"), Words.text("INFO", "memory"), [Words.get, epochKey],
    ]
    let replies = try await link.exchange(commands, until: deadline)
    for reply in replies {
      if case .error(let text) = reply { throw RedisFailure(reply: text) }
    }
    let answers = Array(replies[preparations...])
    guard case .array(let role) = answers[0], case .bytes(let name) = role.first else { throw .malformed("to ROLE") }
    guard name == Array("master".utf8) else {
      throw .away("the server is not a primary, its role is `\(String(decoding: name, as: UTF8.self))`")
    }
    guard case .bytes(let server) = answers[1], case .bytes(let memory) = answers[2] else {
      throw .malformed("to INFO")
    }
    let facts = RedisHandshake.facts(server).merging(RedisHandshake.facts(memory)) { $1 }
    if let version = facts["redis_version"], let major = Int(version.prefix { $0 != "." }),
      major < RedisHandshake.oldestVersion
    {
      throw .misconfigured("Redis \(version) is too old; use version \(RedisHandshake.oldestVersion) or later")
    }
    guard let run = facts["run_id"], !run.isEmpty else { throw .malformed("to INFO, which has no run_id") }
    let epoch = try await epoch(of: run, stored: answers[3], link, until: deadline)
    return Greeting(epoch: epoch, eviction: RedisHandshake.eviction(facts))
  }

  /// Returns the epoch of this run of the server, or begins one.
  private func epoch(
    of run: String, stored: RESPReply, _ link: RedisLink, until deadline: Deadline
  ) async throws(RedisFailure) -> RedisEpoch {
    let new = RedisEpoch(run: run)
    let change: [[UInt8]]
    switch stored {
    case .bytes(let bytes):
      if let epoch = RedisEpoch(parsing: bytes), epoch.run == run { return epoch }
      change = [Words.eval, Words.script, Words.one, epochKey, bytes, new.bytes, Words.number(-1), Words.zero]
    case .null: change = [Words.set, epochKey, new.bytes, Words.nx]
    default: throw .malformed("to GET")
    }
    // If several gateways find the change, one of them begins the epoch, and the others read it.
    let replies = try await link.exchange([change, [Words.get, epochKey]], until: deadline)
    if case .error(let text) = replies[0] { throw RedisFailure(reply: text) }
    if case .error(let text) = replies[1] { throw RedisFailure(reply: text) }
    guard case .bytes(let bytes) = replies[1], let epoch = RedisEpoch(parsing: bytes), epoch.run == run else {
      throw .otherEpoch
    }
    return epoch
  }

  /// Returns the `name:value` lines of a reply to INFO.
  static func facts(_ bytes: [UInt8]) -> [String: String] {
    var facts: [String: String] = [:]
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      guard let colon = line.firstIndex(of: ":") else { continue }
      facts[String(line[..<colon])] = String(line[line.index(after: colon)...])
    }
    return facts
  }

  /// Returns the value of `maxmemory-policy` if the server may evict entries; otherwise `nil`.
  static func eviction(_ facts: [String: String]) -> String? {
    // Without a limit of memory, no policy evicts entries.
    guard let policy = facts["maxmemory_policy"], policy != "noeviction", facts["maxmemory"] != "0" else { return nil }
    return policy
  }
}
