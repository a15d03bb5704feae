import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Time

/// The endpoint to which the link "Start again" on an error page leads. The user restarts a sign-in that cannot
/// continue in this browser (`I-browser`). The link contains a start ticket: the sealed (encrypted and authenticated)
/// authorization request.
struct StartEndpoint {
  /// The last segment of the endpoint's path.
  static let name = "start"
  private static let ticketParameter = "ticket"

  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  /// Returns the path and query of the link. A sealed ticket is base64url text, so it needs no encoding.
  static func path(withTicket ticket: String) -> String {
    "\(GatewaySettings.ownPath)\(name)?\(ticketParameter)=\(ticket)"
  }

  func respond() async -> Reply {
    let request = intercepted.request
    guard request.method == "GET" || request.method == "HEAD" else {
      return .response(intercepted.respond(with: .withoutRedirect(.methodNotAllowed)))
    }
    guard let text = FormParameters(parsing: request.query ?? "")?[named: StartEndpoint.ticketParameter] else {
      return .response(intercepted.respond(with: .withoutRedirect(.transactionNoLongerValid)))
    }
    let opened: Opened<StartTicket> = intercepted.gateway.sealer.opened(text)
    switch opened {
    case .keyUnknown: return .response(intercepted.respond(with: .withoutRedirect(.sealingKeyUnknown)))
    case .invalid: return .response(intercepted.respond(with: .withoutRedirect(.transactionNoLongerValid)))
    case .value(let ticket):
      guard ticket.expiry > intercepted.now else {
        return .response(intercepted.respond(with: .withoutRedirect(.transactionExpired)))
      }
      return await AuthorizationEndpoint(intercepted).restart(with: ticket)
    }
  }
}

/// The content of the link “Start again”: an authorization request. When the user follows the link, the rules for a new
/// request run.
struct StartTicket: Sealable {
  static var purpose: Purpose { .start }
  /// The version of the format.
  private static let formatVersion: UInt8 = 1

  /// The path of the authorization endpoint that received the original request.
  let path: String
  /// The parameters of the client's authorization request, rebuilt from the transaction and form-encoded.
  let query: String
  /// The time at which the link expires.
  let expiry: UnixTime

  init(path: String, query: String, expiry: UnixTime) {
    self.path = path
    self.query = query
    self.expiry = expiry
  }

  init(from payload: inout PayloadReader) throws(PayloadError) {
    guard try payload.readByte() == StartTicket.formatVersion else { throw PayloadError() }
    expiry = UnixTime(seconds: Int64(clamping: try payload.readNumber()))
    path = try payload.readText()
    query = try payload.readText()
  }

  func write(to payload: inout PayloadWriter) {
    payload.writeByte(StartTicket.formatVersion)
    payload.writeNumber(UInt64(clamping: expiry.seconds))
    payload.writeText(path)
    payload.writeText(query)
  }
}
