/// The members of one request in a log that describe its client. No member contains a code, token, state or secret.
public struct SeenRequest: Sendable {
  /// The endpoint that received the request.
  public enum Endpoint: Sendable {
    case authorization
    case token
    case other
  }

  /// The time of the request, in the format of RFC 3339.
  public var time: String
  /// The client id; `nil` if the log does not contain it.
  public var client: String?
  /// The endpoint that received the request.
  public var endpoint: Endpoint
  /// The path, in an access log.
  public var path: String?
  /// The path in a decision log, with `*` in place of ids: in the line of a redemption, the page from which the server sent
  /// the code; `nil` for an authorization endpoint.
  public var completionPath: String?
  /// The redirect URI without query and loopback port; `malformed` for a text that is no redirect URI.
  public var redirectURI: String?
  /// A text that is no redirect URI, without query, for a comment.
  public var malformedRedirectURI: String?
  /// The response type.
  public var responseType: String?
  /// The grant; `other` for an unknown one.
  public var grant: String?
  /// The method of client authentication.
  public var authentication: String?
  /// The use of PKCE.
  public var pkce: String?
  /// The scope.
  public var scope: String?
  /// The id of the request in the decision log.
  public var request: String?
  /// The mode in the decision log.
  public var mode: String?
  /// The rules that refused the request, or would have refused it, without repetitions.
  public var rules: [String] = []
  /// True if the gateway refused the request.
  public var isRejected = false
  /// The address of the client; empty if the log does not contain it.
  public var peer = ""
  /// The status with which the server answered, in the decision log.
  public var upstreamStatus: Int?
  /// True for a redemption for which not all rules could be evaluated.
  public var isNotObservable = false

  /// Creates a request of which only these members are known.
  public init(time: String, client: String? = nil, endpoint: Endpoint, path: String? = nil) {
    self.time = time
    self.client = client
    self.endpoint = endpoint
    self.path = path
  }

  /// True if the server has accepted the client in this request.
  var provesClient: Bool { endpoint == .token && !isRejected && upstreamStatus == 200 }

  /// The rules about ids that the policy does not list, at the authorization endpoint and at the token endpoint.
  private static let unknownClientRules: Set = ["client-unknown", "client-not-known"]
  /// The rules about the form of a request in which no single client id can be found.
  private static let formRules: Set = ["parameters-split", "client-id-missing", "client-unidentified"]

  /// True if the policy did not list the client at this request. Most rules depend on the client, so they were not
  /// evaluated.
  var isOfUnknownClient: Bool { !SeenRequest.unknownClientRules.isDisjoint(with: rules) }

  /// True if only rules that do not depend on the client refused the request, so that it does not show whether the policy
  /// listed the client.
  var isRefusedBeforeClient: Bool { !rules.isEmpty && SeenRequest.formRules.isSuperset(of: rules) }

  /// The maximum length of a text, in bytes. An access log contains texts of up to the length of a request line.
  private static let maximumTextLength = 1_024

  /// Returns the text, or its beginning and `...` if it is too long.
  static func limited(_ text: String?) -> String? {
    guard let text, text.utf8.count > maximumTextLength else { return text }
    return String(decoding: text.utf8.prefix(maximumTextLength), as: UTF8.self) + "..."
  }
}

/// A line of a log.
public enum LogLine: Sendable {
  /// A request of a client, or of an unknown client at the token endpoint.
  case request(SeenRequest)
  /// A line about something else.
  case other
  /// A line in neither of the two formats.
  case unreadable

  /// The maximum length of a line, in bytes. A longer line is unreadable.
  public static let maximumLength = 64 * 1024

  /// Reads a line of the decision log, or of an access log in the combined format.
  public init(parsing line: [UInt8]) {
    guard line.count <= LogLine.maximumLength else {
      self = .unreadable
      return
    }
    self = line.first == UInt8(ascii: "{") ? LogLine.decision(line) : LogLine.access(line)
  }
}
