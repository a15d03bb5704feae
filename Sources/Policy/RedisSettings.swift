public import Cryptography
public import OAuth

/// A Redis or Valkey server that all replicas share as their store (`gateway.store` with a URL).
public struct RedisSettings: Sendable {
  /// The port of a server if the URL has none.
  public static let defaultPort = 6379
  /// The port of a sentinel if the URL has none.
  public static let defaultSentinelPort = 26379

  /// The way to reach the server.
  public enum Endpoint: Hashable, Sendable {
    /// A host name or address literal, and a port.
    case server(SocketAddress)
    /// The path of a Unix socket.
    case socket(path: String)
    /// The addresses of the sentinels, and the name of the primary whose address they know.
    case sentinels([SocketAddress], primary: String)
  }

  /// The way to reach the server.
  public var endpoint: Endpoint
  /// True if connections to the server, and to the sentinels, use TLS.
  public var usesTLS = false
  /// The ACL user; `nil` for the user `default`.
  public var user: String?
  /// The password of the user; `nil` for no authentication.
  public var password: Secret?
  /// The password of the sentinels; `nil` for no authentication.
  public var sentinelPassword: Secret?
  /// The number of the database. Default: 0.
  public var database = 0
  /// The first characters of all keys.
  public var keyPrefix = "proofgate:"
  /// The `store_min_replicas` of the policy; `nil` if the policy does not set it. Use `requiredReplicas` instead.
  public var minReplicas: Int?
  /// The default of `size`: 128 MiB.
  public static let defaultSize = 128 << 20
  /// The bytes that the entries of one gateway may use.
  public var size = RedisSettings.defaultSize
  /// The number of gateways that use the server.
  public var gateways = 1
  /// The least `maxmemory` of the server, in bytes. The server also needs memory for connections,
  /// replication and growing tables.
  public var leastServerMemory: Int { size * gateways / 2 * 3 }
  /// The authorities that may issue the server's certificate; `nil` without TLS.
  public var authorities: CertificateChain?

  /// Creates settings for this endpoint. All other properties have their defaults.
  public init(_ endpoint: Endpoint) {
    self.endpoint = endpoint
  }

  /// The text of `endpoint` for messages to the operator, without the user and secrets.
  public var endpointName: String {
    switch endpoint {
    case .server(let address): "\(address)"
    case .socket(let path): path
    case .sentinels(_, let name): "`\(name)`"
    }
  }

  /// The number of replicas that must have received a write before the gateway treats the write as done. Default: 1
  /// with sentinels and 0 otherwise.
  public var requiredReplicas: Int {
    if let minReplicas { return minReplicas }
    if case .sentinels = endpoint { return 1 }
    return 0
  }
}

extension RedisSettings: Equatable {
  /// Compares all settings: passwords in constant time, and authorities by their fingerprints.
  public static func == (left: RedisSettings, right: RedisSettings) -> Bool {
    left.endpoint == right.endpoint && left.usesTLS == right.usesTLS && left.user == right.user
      && left.database == right.database && left.keyPrefix == right.keyPrefix && left.minReplicas == right.minReplicas
      && left.size == right.size && left.gateways == right.gateways
      && areEqual(left.password, right.password) && areEqual(left.sentinelPassword, right.sentinelPassword)
      && left.authorities?.fingerprints == right.authorities?.fingerprints
  }

  private static func areEqual(_ left: Secret?, _ right: Secret?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return constantTimeEqual(left.reveal(), right.reveal())
  }
}
