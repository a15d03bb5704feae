internal import OAuth
internal import Policy
internal import RESP
internal import Reactor

/// The first commands of a connection: authentication, the database, and questions for the role, the version, the
/// memory and the epoch of the server.
struct RedisHandshake {
  /// The oldest version whose `SET` accepts `NX` and `GET` together.
  private static let oldestVersion = 7

  let settings: RedisSettings
  let epochKey: [UInt8]

  /// The facts about a server that the first commands have shown.
  struct Greeting {
    let epoch: RedisEpoch
    /// The value of `maxmemory-policy` if the server may evict entries; otherwise `nil`.
    let evictionPolicy: String?
    /// The bytes that the server may use; `nil` without a limit.
    let maximumMemory: Int?
  }

  /// Prepares the connection for use. Throws if the server is not a primary that executes commands.
  func perform(on link: RedisLink, until deadline: Deadline) async throws(RedisFailure) -> Greeting {
    var commands: [[[UInt8]]] = []
    if let password = settings.password {
      commands.append(
        Words.text("AUTH") + (settings.user.map { [Array($0.utf8)] } ?? []) + [Array(password.reveal().utf8)])
    }
    if settings.database != 0 { commands.append(Words.text("SELECT", "\(settings.database)")) }
    let preparationCount = commands.count
    commands += [
      Words.text("ROLE"), Words.text("INFO", "server"), Words.text("INFO", "memory"), [Words.get, epochKey],
    ]
    let replies = try await link.exchange(commands, until: deadline)
    for reply in replies {
      if case .error(let text) = reply { throw RedisFailure(reply: text) }
    }
    let answers = Array(replies[preparationCount...])
    guard case .array(let role) = answers[0], case .bytes(let name) = role.first else {
      throw .unexpectedReply("to ROLE")
    }
    guard name == Array("master".utf8) else {
      throw .notServing("the server is not a primary, its role is `\(String(decoding: name, as: UTF8.self))`")
    }
    guard case .bytes(let server) = answers[1], case .bytes(let memory) = answers[2] else {
      throw .unexpectedReply("to INFO")
    }
    let properties = RedisHandshake.properties(server).merging(RedisHandshake.properties(memory)) { $1 }
    if let version = properties["redis_version"], let major = Int(version.prefix { $0 != "." }),
      major < RedisHandshake.oldestVersion
    {
      throw .misconfigured("Redis \(version) is too old; use version \(RedisHandshake.oldestVersion) or later")
    }
    guard let runID = properties["run_id"], !runID.isEmpty else {
      throw .unexpectedReply("to INFO, which has no run_id")
    }
    let epoch = try await epoch(of: runID, stored: answers[3], link, until: deadline)
    return Greeting(
      epoch: epoch, evictionPolicy: RedisHandshake.evictionPolicy(properties),
      maximumMemory: properties["maxmemory"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil })
  }

  /// Returns the epoch that began in this run of the server. Begins an epoch if none has begun in it.
  ///
  /// - Parameter stored: the reply to `GET` of the epoch key.
  private func epoch(
    of runID: String, stored: RESPReply, _ link: RedisLink, until deadline: Deadline
  ) async throws(RedisFailure) -> RedisEpoch {
    let new = RedisEpoch(runID: runID)
    let change: [[UInt8]]
    switch stored {
    case .bytes(let bytes):
      if let epoch = RedisEpoch(parsing: bytes), epoch.runID == runID { return epoch }
      // The script has one key. The last two arguments say that the epoch key never expires (-1), and that the command
      // was not sent before (0).
      change = [Words.eval, Words.compareAndSet, Words.one, epochKey, bytes, new.bytes, Words.number(-1), Words.zero]
    case .null: change = [Words.set, epochKey, new.bytes, Words.nx]
    default: throw .unexpectedReply("to GET")
    }
    // If several gateways find a new run id at the same time, one of them begins the epoch, and the others read it.
    let replies = try await link.exchange([change, [Words.get, epochKey]], until: deadline)
    if case .error(let text) = replies[0] { throw RedisFailure(reply: text) }
    if case .error(let text) = replies[1] { throw RedisFailure(reply: text) }
    guard case .bytes(let bytes) = replies[1], let epoch = RedisEpoch(parsing: bytes), epoch.runID == runID else {
      throw .otherEpoch
    }
    return epoch
  }

  /// Returns the `name:value` lines of a reply to INFO.
  static func properties(_ bytes: [UInt8]) -> [String: String] {
    var properties: [String: String] = [:]
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      guard let colon = line.firstIndex(of: ":") else { continue }
      properties[String(line[..<colon])] = String(line[line.index(after: colon)...])
    }
    return properties
  }

  /// Returns the value of `maxmemory-policy` if the server may evict entries; otherwise `nil`.
  static func evictionPolicy(_ properties: [String: String]) -> String? {
    // Without a limit of memory, no policy evicts entries.
    guard let policy = properties["maxmemory_policy"], policy != "noeviction", properties["maxmemory"] != "0" else {
      return nil
    }
    return policy
  }
}
