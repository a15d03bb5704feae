internal import Stores

/// The reason why an operation of a Redis store has no result.
enum RedisFailure: Error, Equatable, Sendable {
  /// There is no connection to the server, or the connection ended.
  case unreachable(String)
  /// No reply within the time limit.
  case noReply
  /// The server answers but does not serve requests at the moment. The text is its error reply.
  case notServing(String)
  /// Fewer replicas than required have the write.
  case tooFewReplicas(has: Int, needs: Int)
  /// The server refuses the command until the operator changes a setting. The text is its error reply.
  case misconfigured(String)
  /// The store has begun another epoch.
  case otherEpoch
  /// The server sent an unexpected reply. The text continues the words "an unexpected reply".
  case unexpectedReply(String)
  /// Too many operations wait for the server.
  case overloaded

  /// Creates the failure that an error reply means.
  init(reply: String) {
    let text = RedisFailure.printable(reply)
    switch RedisFailure.word(of: text) {
    case "READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "MOVED", "ASK", "TRYAGAIN", "NOREPLICAS", "UNBLOCKED",
      "BUSY":
      self = .notServing(text)
    default: self = .misconfigured(text)
    }
  }

  /// The reason as a label of metrics.
  var kind: StoreFailure {
    switch self {
    case .noReply: .timeout
    case .misconfigured: .misconfigured
    case .unreachable, .notServing, .tooFewReplicas, .otherEpoch, .unexpectedReply, .overloaded: .unavailable
    }
  }

  /// The name of the problem. The operator gets at most one report of each name in `RedisLimits.reportInterval`.
  var reportKey: String {
    switch self {
    case .noReply, .unreachable: "unreachable"
    case .misconfigured(let text), .notServing(let text): RedisFailure.word(of: text)
    case .tooFewReplicas: "replicas"
    case .otherEpoch: "epoch"
    case .unexpectedReply: "malformed"
    case .overloaded: "overloaded"
    }
  }

  /// True if the connection must be closed, so that the next one finds the present primary.
  var endsConnection: Bool {
    switch self {
    case .unreachable, .noReply, .notServing, .otherEpoch, .unexpectedReply: true
    case .misconfigured(let text): ["NOAUTH", "WRONGPASS", "DENIED"].contains(RedisFailure.word(of: text))
    case .tooFewReplicas, .overloaded: false
    }
  }

  /// The reason in words, for the operator.
  var text: String {
    switch self {
    case .unreachable(let reason): reason
    case .noReply: "no reply in time"
    case .notServing(let text): text
    case .tooFewReplicas(let has, let needs): "\(has) of \(needs) required replicas have the write"
    case .misconfigured(let text): text + RedisFailure.advice(RedisFailure.word(of: text))
    case .otherEpoch: "the store has begun another epoch: its primary changed or its data was lost"
    case .unexpectedReply(let reason): "an unexpected reply: \(reason)"
    case .overloaded: "too many operations wait for the server"
    }
  }

  /// The error for the caller of a store.
  var storeError: StoreError { .unavailable(text) }

  /// Returns the first word of an error reply, which names the error.
  static func word(of text: String) -> String { String(text.prefix { $0 != " " }) }

  /// The maximum length of an error reply in notices. Those of Redis have at most about 150 characters.
  private static let longestText = 200

  /// Returns an error reply as it is shown: on one line, without control characters, and without the arguments of the
  /// command, which the reply to an unknown command repeats. The arguments of `AUTH` contain a password.
  private static func printable(_ reply: String) -> String {
    let text = String(
      reply.unicodeScalars.prefix(longestText).map { scalar -> Character in
        (0x20..<0x7f).contains(scalar.value) ? Character(scalar) : "?"
      })
    let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].hasPrefix(" with args") else { return text }
    return String(parts[0])
  }

  private static func advice(_ word: String) -> String {
    switch word {
    case "NOAUTH": "; set `store_password`"
    case "WRONGPASS": "; `store_password` or the user of the URL is wrong"
    case "NOPERM": "; give the user the rights of the ACL line in docs/operations.md"
    case "OOM": "; raise `maxmemory` of the server"
    default: ""
    }
  }
}
