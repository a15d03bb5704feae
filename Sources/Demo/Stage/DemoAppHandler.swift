import Gateway
import HTTP
import HTTP1
import LegacyServer
import OAuth
import Proxy
import Reactor

/// The user interface of the demo's native app, and of the device and the agent. It consists of web pages, where a real
/// app would have a window.
final class DemoAppHandler: AnsweringHandler {
  /// The maximum number of sign-in attempts in progress. If there are more, the oldest is dropped, because the user has
  /// probably abandoned it.
  private static let attemptLimit = 16

  private let app: NativeApp
  let device: DemoDevice?
  let agent: DemoAgent?
  /// The address of the protected resource, behind the gateway.
  private let resource: WebAddress
  let client: LoopbackClient
  /// The sign-in attempts in progress, the oldest first, each with its app.
  private var attempts: [(app: NativeApp, attempt: NativeApp.Attempt)] = []
  /// The sign-in of the device that is in progress.
  var deviceFlow: DemoDevice.Flow?

  init(_ app: NativeApp, device: DemoDevice?, agent: DemoAgent?, _ resource: WebAddress, _ poller: Poller) {
    self.app = app
    self.device = device
    self.agent = agent
    self.resource = resource
    client = LoopbackClient(poller)
  }

  func route(_ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts) -> Route {
    .intercept(bodyLimit: 0)
  }

  func respond(to request: Request, routeTag: UInt8, upstream: Upstream) async -> Reply {
    guard request.method == "GET" || request.method == "HEAD" else {
      return .response(DemoAppPage.message(405, "Only GET", "The app's server answers GET."))
    }
    switch request.path {
    case "/": return .response(DemoAppPage.start(app, hasDevice: device != nil, hasAgent: agent != nil))
    case "/start": return .response(start(app))
    case "/callback": return .response(await finish(Form(decoding: request.query ?? "")))
    case "/device/start" where device != nil: return .response(await startDevice())
    case "/device" where device != nil: return .response(await showDevice())
    case "/agent" where agent != nil: return .response(await startAgent())
    default: return .response(DemoAppPage.message(404, "Not found", "The app has a start page and a callback."))
    }
  }

  /// Starts an attempt and redirects the browser to the authorization endpoint. A real app would open the system's
  /// browser instead (RFC 8252, section 6).
  func start(_ app: NativeApp) -> Response {
    let attempt = app.start()
    attempts.append((app, attempt))
    if attempts.count > DemoAppHandler.attemptLimit { attempts.removeFirst() }
    return Response(status: 302, headers: ["Location": attempt.url.description, "Cache-Control": "no-store"])
  }

  /// Handles the authorization response: redeems the code and calls the protected resource.
  private func finish(_ parameters: Form) async -> Response {
    guard let index = attempts.firstIndex(where: { $0.attempt.state == parameters["state"] }) else {
      return DemoAppPage.message(400, "Not expected", "The app did not request this response, or has already used it.")
    }
    let (app, attempt) = attempts.remove(at: index)
    let code: Secret
    do throws(NativeApp.Refusal) {
      code = try app.code(in: parameters, for: attempt)
    } catch {
      return DemoAppPage.refused(error, parameters)
    }
    do throws(LoopbackClient.Failure) {
      let tokenResponse = try await client.send(
        app.server.tokenEndpoint, app.tokenRequest(code: code, verifier: attempt.verifier))
      guard let tokens = NativeApp.tokens(in: tokenResponse) else {
        return DemoAppPage.result(parameters, tokenResponse: tokenResponse, resourceResponse: nil)
      }
      let resourceResponse = try await useToken(tokens.accessToken)
      return DemoAppPage.result(parameters, tokenResponse: tokenResponse, resourceResponse: resourceResponse)
    } catch {
      return DemoAppPage.noAnswer(error)
    }
  }

  /// Requests the protected resource with the access token.
  func useToken(_ token: Secret) async throws(LoopbackClient.Failure) -> Response {
    try await client.send(resource, Request(getting: resource, with: token.reveal()))
  }

  /// Returns the error page for a request that the server refuses before it calls the handler.
  func failure(_ failure: ProxyFailure, as form: ErrorForm, request: RequestReference) -> Response {
    switch failure {
    case .request(let error): DemoAppPage.message(error.status, "Bad request", error.description)
    default: DemoAppPage.message(400, "Bad request", "The app cannot read this request.")
    }
  }
}
