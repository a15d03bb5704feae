import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing

/// The link by which a user restarts a sign-in that cannot continue in this browser (`I-browser`).
struct StartEndpoint {
  /// The last segment of the endpoint's path.
  static let name = "start"
  private static let parameter = "ticket"

  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  /// Returns the path and query for a sealed ticket, which contains only characters that a query may contain.
  static func path(_ ticket: String) -> String { "\(GatewaySettings.ownPath)\(name)?\(parameter)=\(ticket)" }

  func respond() async -> Reply {
    let request = intercepted.request
    guard request.method == "GET" || request.method == "HEAD" else {
      return .response(intercepted.respond(with: .here(.methodNotAllowed)))
    }
    guard let text = FormParameters(parsing: request.query ?? "")?[named: StartEndpoint.parameter] else {
      return .response(intercepted.respond(with: .here(.transactionOutdated)))
    }
    let opened: Opened<StartTicket> = intercepted.gateway.sealer.opened(text)
    switch opened {
    case .keyUnknown: return .response(intercepted.respond(with: .here(.codeKeyUnknown)))
    case .invalid: return .response(intercepted.respond(with: .here(.transactionOutdated)))
    case .value(let ticket):
      guard ticket.expiry > intercepted.now else {
        return .response(intercepted.respond(with: .here(.transactionExpired)))
      }
      return await AuthorizationEndpoint(intercepted).begin(ticket)
    }
  }
}

/// The sealed content of the link: an authorization request. Every rule runs when the ticket is opened.
struct StartTicket: Sealable {
  static var purpose: Purpose { .start }
  private static let layout: UInt8 = 1

  /// The path of the authorization endpoint that received the request.
  let path: String
  /// The authorization request as its client would send it.
  let query: String
  /// The expiry, in seconds since 1970.
  let expiry: Int64

  init(path: String, query: String, expiry: Int64) {
    self.path = path
    self.query = query
    self.expiry = expiry
  }

  init(from payload: inout PayloadReader) throws(PayloadError) {
    guard try payload.byte() == StartTicket.layout else { throw PayloadError() }
    expiry = Int64(clamping: try payload.number())
    path = try payload.text()
    query = try payload.text()
  }

  func write(to payload: inout PayloadWriter) {
    payload.byte(StartTicket.layout)
    payload.number(UInt64(clamping: expiry))
    payload.text(path)
    payload.text(query)
  }
}
