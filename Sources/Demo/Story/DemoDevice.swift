import FoundationEssentials
public import HTTP
public import LegacyServer
public import OAuth

/// A device without a browser, for example a television, which signs in with the device grant (RFC 8628).
public struct DemoDevice: Sendable {
  /// A sign-in that the device has started: the response of the device authorization endpoint (RFC 8628, section 3.2).
  public struct Flow: Sendable, Decodable {
    enum CodingKeys: String, CodingKey {
      case deviceCode = "device_code"
      case userCode = "user_code"
      case verificationURI = "verification_uri"
      case interval
    }

    /// The code with which the device polls.
    public let deviceCode: Secret
    /// The code that the device shows to the user.
    public let userCode: String
    /// The page on which the user types the code.
    public let verificationURI: WebAddress
    /// The time between two polls, in seconds.
    public let interval: Int

    /// Decodes the members of RFC 8628, section 3.2.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      deviceCode = Secret(try members.decode(String.self, forKey: .deviceCode))
      userCode = try members.decode(String.self, forKey: .userCode)
      interval = try members.decodeIfPresent(Int.self, forKey: .interval) ?? 5
      guard let uri = WebAddress(try members.decode(String.self, forKey: .verificationURI)) else {
        throw DecodingError.dataCorruptedError(
          forKey: .verificationURI, in: members, debugDescription: "not a web address")
      }
      verificationURI = uri
    }
  }

  /// The client id.
  public var clientID: String
  /// The name that the gateway's page shows.
  public var name: String
  /// The device authorization endpoint.
  public var deviceAuthorizationEndpoint: WebAddress
  /// The token endpoint.
  public var tokenEndpoint: WebAddress

  /// Creates a device.
  public init(clientID: String, name: String, deviceAuthorizationEndpoint: WebAddress, tokenEndpoint: WebAddress) {
    self.clientID = clientID
    self.name = name
    self.deviceAuthorizationEndpoint = deviceAuthorizationEndpoint
    self.tokenEndpoint = tokenEndpoint
  }

  /// The device authorization request (RFC 8628, section 3.1).
  public var startRequest: Request {
    Request(posting: ["client_id": clientID, "scope": "profile"], to: deviceAuthorizationEndpoint)
  }

  /// Returns the flow in the response to ``startRequest``; `nil` if the response is an error.
  public static func flow(in response: Response) -> Flow? {
    guard response.status == 200 else { return nil }
    return try? JSONDecoder().decode(Flow.self, from: Data(response.body))
  }

  /// Returns a token request for a flow (RFC 8628, section 3.4).
  public func pollRequest(_ flow: Flow) -> Request {
    Request(
      posting: [
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": flow.deviceCode.reveal(),
        "client_id": clientID,
      ], to: tokenEndpoint)
  }
}
