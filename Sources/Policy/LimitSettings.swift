/// What one client, one request and all together may use (`limits:` in the policy file). `docs/policy.md` gives the reason
/// of each default.
public struct LimitSettings: Sendable, Equatable {
  /// Bytes of a request head.
  public var headerBytes = 16 * 1024
  public var headerFields = 100
  /// Bytes of a request target.
  public var targetLength = 8 * 1024
  /// Bytes of the body of a request to an OAuth endpoint.
  public var body = 64 * 1024
  /// Milliseconds from a head's first byte to its last.
  public var headerTimeout = 10_000
  /// Milliseconds without progress of a body.
  public var bodyTimeout = 60_000
  /// Milliseconds that a connection waits for its next request.
  public var idleTimeout = 75_000
  /// Milliseconds from a request's head to its response's last byte.
  public var requestTimeout = 3_600_000
  /// Bytes a second, in either direction; 0: any.
  public var minimumRate = 500
  /// For the whole process.
  public var connections = 65_536
  public var connectionsPerAddress = 1_024
  public var requestsPerConnection = 10_000
  /// Requests in progress on one HTTP/2 connection.
  public var concurrentStreams = 100
  /// Streams of one HTTP/2 connection that end before their responses, at once.
  public var streamResets = 100
  /// Frames of one HTTP/2 connection that carry nothing of a request, at once.
  public var controlFrames = 1_000
  /// Bytes, for the whole process; `nil` where the policy does not say.
  public var maxBufferMemory: Int?
  /// Bytes of `maxBufferMemory` where nothing limits the memory of the process.
  public static let defaultBufferMemory = 256 * 1024 * 1024
  /// A minute, for a configured client; 0: any.
  public var tokenRequestsPerClient = 30_000
  /// A minute, for an address; 0: any.
  public var tokenRequestsPerAddress = 3_000

  public init() {}
}
