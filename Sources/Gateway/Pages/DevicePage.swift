import Markup
import OAuth
import Policy
import Time

/// The content of the page on which a user confirms a device (RFC 8628, section 5.4).
struct DevicePage: Sendable {
  /// The names and values of the form fields of the device pages.
  enum Field {
    /// The hidden field with a sealed token, which shows that the gateway sent the form to this browser.
    static let token = "device_token"
    /// The code that the user types. Also the parameter of `verification_uri_complete`.
    static let userCode = "user_code"
    /// The user's decision: ``approve``, ``deny``, or any other text to continue to the sign-in.
    static let decision = "decision"
    static let approve = "approve"
    static let deny = "deny"
    static let proceed = "continue"
  }

  /// The state of a request that cannot be decided any more, as far as the gateway knows it.
  enum Outcome {
    /// The user allowed it. The device has its tokens, will fetch them, or the upstream has refused the code.
    case approved
    case notConnected
    /// The form does not show its request, or the store no longer has it.
    case unknown
  }

  /// The name of the client.
  let clientName: String
  let clientID: String
  /// The code that the device shows.
  let userCode: UserCode
  /// The scope values that the upstream gets.
  let scopes: [String]
  /// The protected resource that the device wants to use; `nil` if the request names none.
  let resource: ConsentPage.Resource?
  /// The network from which the device started the flow.
  let network: String
  /// The time since the device started the flow.
  let age: Seconds
  /// The path on this origin to which the form posts.
  let action: String
  /// The value of the hidden field.
  let token: String

  /// Returns the age in words, rounded to minutes, and the network.
  func start(on pages: Pages) -> HTML {
    let minutes = (age.count + 30) / 60
    let text: PageText =
      minutes <= 0 ? .deviceStartedNow : minutes == 1 ? .deviceStartedMinute : .deviceStartedMinutes
    return pages.text(text, ["minutes": "\(Int(minutes))", "network": "<code>\(visible: network)</code>"])
  }
}
