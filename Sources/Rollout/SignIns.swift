/// The sign-ins of a client in a decision log, as far as its lines show how they went on.
///
/// A sign-in is completed if the server has answered the redemption of its code with 200. Only then do the server, the app
/// and everything between them agree.
public struct SignIns: Sendable {
  /// The number of authorization requests.
  public var started = 0
  /// The number of redemptions that the server has answered with 200.
  public var completed = 0
  /// The number of refreshes that the server has answered with 200.
  public var refreshed = 0
  /// The number of token requests with client credentials that the server has answered with 200.
  public var withCredentials = 0
  /// The number of token requests without client credentials that the server has answered with 200.
  public var withoutCredentials = 0
  /// The status of the latest answer of the server that did not continue a sign-in; `nil` if there is none.
  public var failure: Int?
  /// True if `failure` is the status of a token request, false if it is that of an authorization request.
  public var failedAtToken = false

  /// Creates an empty value.
  public init() {}

  /// True if the server has accepted token requests of the client only with its credentials.
  var needCredentials: Bool { withCredentials > 0 && withoutCredentials == 0 }

  /// Counts a request.
  ///
  /// - Parameters:
  ///   - isToken: True for a token request, false for an authorization request.
  ///   - grant: The grant of a token request.
  ///   - authentication: The method of client authentication of a token request; `nil` if it is not known.
  ///   - status: The status with which the server answered; `nil` if the request did not reach it.
  mutating func add(isToken: Bool, grant: String?, authentication: String?, status: Int?) {
    if !isToken { started += 1 }
    guard let status else { return }
    if isToken, status == 200 {
      switch grant {
      case "authorization_code": completed += 1
      case "refresh_token": refreshed += 1
      default: break
      }
      switch authentication {
      case "none": withoutCredentials += 1
      case "basic", "post", "assertion": withCredentials += 1
      default: break
      }
    } else if status >= 400, !isToken || grant == "authorization_code" {
      failure = status
      failedAtToken = isToken
    }
  }

  /// The reason why the sign-ins do not show that the client can be enforced; `nil` if at least one was completed, or if
  /// the client neither signs in nor refreshes.
  var problem: String? {
    guard completed == 0 else { return nil }
    if started > 0 {
      let cause = failure.map {
        "; the server answered \(failedAtToken ? "a token" : "an authorization") request with \($0)"
      }
      return "no sign-in was completed\(cause ?? ", because no redemption of a code came that the server accepted")"
    }
    return refreshed > 0 ? "no sign-in was seen, only refreshes" : nil
  }
}
