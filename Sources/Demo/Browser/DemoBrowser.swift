public import HTTP
public import LegacyServer

/// A scripted browser that keeps cookies, follows redirects and submits forms. The caller provides the function that
/// sends the requests.
public struct DemoBrowser {
  /// Sends a request to the server at the address and returns the response. The request already contains its target and
  /// its `Host` field.
  public typealias Send = (WebAddress, Request) async throws -> Response

  /// The result of opening an address or submitting a form.
  public enum Outcome: Sendable {
    /// The browser shows a page.
    case page(Page)
    /// The app received the authorization response. The browser sends no request for it. A real browser would let the
    /// operating system open the app, or send a request to the app's redirect URI.
    case app(Delivery)
  }

  /// A page that the browser shows.
  public struct Page: Sendable {
    /// The URL of the page, after redirects.
    public var address: WebAddress
    /// The response with the page in its body.
    public var response: Response

    /// The HTTP status of the response.
    public var status: Int { response.status }
    /// The markup of the page.
    public var html: String { String(decoding: response.body, as: UTF8.self) }
    /// The forms on the page, in order.
    public var forms: [HTMLForm] { HTMLForm.forms(in: html) }
    /// The text of the page, without markup.
    public var text: String { HTMLForm.text(of: html) }
  }

  /// The authorization response that reached the app.
  public struct Delivery: Sendable {
    /// The URL that the app received.
    public var address: String
    /// The parameters of the query, of the fragment and, with `form_post`, of the body.
    public var parameters: Form
  }

  /// The reason why the browser cannot follow a redirect or submit a form.
  public enum Failure: Error, Equatable {
    /// The browser was redirected 20 times in a row.
    case tooManyRedirects
    /// The target of a redirect or form is an invalid http or https URL, and is not the app's redirect URI.
    case badLocation(String)
  }

  /// The cookies of this browser.
  public var cookies = CookieJar()
  /// The `User-Agent` of every request; `nil` for none.
  public var userAgent: String? = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
  /// The redirect URI of the app. The browser delivers to the app every URL that consists of this URI and parameters,
  /// and every URL whose scheme is neither http nor https.
  public var appRedirectURI: String?
  /// The requests that were sent while ``keepsLog`` was true, and their responses, in order.
  public private(set) var log: [(address: WebAddress, request: Request, response: Response)] = []
  /// True to append each request and its response to ``log``.
  public var keepsLog = false

  private let send: Send

  /// Creates a browser without cookies.
  public init(appRedirectURI: String? = nil, send: @escaping Send) {
    self.appRedirectURI = appRedirectURI
    self.send = send
  }

  /// Opens an address and follows redirects until the browser shows a page or the app receives the response.
  public mutating func open(_ address: WebAddress) async throws -> Outcome {
    try await follow(address, method: "GET", body: nil)
  }

  /// Submits a form on a page, then follows redirects as in `open`.
  ///
  /// - Parameters:
  ///   - values: The values that the user enters, by the names of the controls.
  ///   - button: The button that the user presses; `nil` if the form is submitted without a button.
  public mutating func submit(
    _ form: HTMLForm, on page: Page, _ values: [String: String] = [:], button: HTMLForm.Control? = nil
  ) async throws -> Outcome {
    let sent = form.submission(values, button: button)
    let target = page.address.resolving(form.action)
    guard form.method == "POST" else {
      let withoutQuery = String(target.prefix { $0 != "?" })
      return try await go(to: sent.added(to: withoutQuery), method: "GET", body: nil)
    }
    return try await go(to: target, method: "POST", body: sent)
  }

  /// Delivers the URL to the app or opens it.
  private mutating func go(to address: String, method: String, body: Form?) async throws -> Outcome {
    if let delivery = delivery(of: address, body: body) { return .app(delivery) }
    guard let web = WebAddress(address) else { throw Failure.badLocation(address) }
    return try await follow(web, method: method, body: body)
  }

  /// Returns the authorization response in a URL and body if the URL belongs to the app; `nil` for all other URLs.
  private func delivery(of address: String, body: Form?) -> Delivery? {
    let isWeb = address.hasPrefix("http://") || address.hasPrefix("https://")
    guard !isWeb || isAppRedirectURI(address) else { return nil }
    var parameters = Form()
    let withoutFragment = address.prefix { $0 != "#" }
    if let questionMark = withoutFragment.firstIndex(of: "?") {
      parameters = Form(decoding: withoutFragment[withoutFragment.index(after: questionMark)...])
    }
    if let hash = address.firstIndex(of: "#") {
      parameters.fields += Form(decoding: address[address.index(after: hash)...]).fields
    }
    parameters.fields += body?.fields ?? []
    return Delivery(address: address, parameters: parameters)
  }

  private func isAppRedirectURI(_ address: String) -> Bool {
    guard let appRedirectURI, address.hasPrefix(appRedirectURI) else { return false }
    let next = address.dropFirst(appRedirectURI.count).first
    return next == nil || next == "?" || next == "&" || next == "#"
  }

  private mutating func follow(_ address: WebAddress, method: String, body: Form?) async throws -> Outcome {
    var address = address
    var method = method
    var body = body
    for _ in 0..<20 {
      var headers: Headers = ["Host": address.authority, "Accept": "text/html,*/*;q=0.8"]
      if let userAgent { headers.append("User-Agent", userAgent) }
      if let field = cookies.field(for: address) { headers.append("Cookie", field) }
      if body != nil { headers.append("Content-Type", "application/x-www-form-urlencoded") }
      let request = Request(
        method: method, target: address.target, headers: headers, body: Array((body?.encoded ?? "").utf8))
      let response = try await send(address, request)
      if keepsLog { log.append((address, request, response)) }
      cookies.store(response.headers, from: address)
      guard [301, 302, 303, 307, 308].contains(response.status), let location = response.headers["Location"] else {
        return .page(Page(address: address, response: response))
      }
      if response.status < 307 {
        // 303 requires a GET. Browsers also send a GET after a POST with 301 or 302 (RFC 9110, section 15.4.3).
        method = "GET"
        body = nil
      }
      let target = address.resolving(location)
      if let delivery = delivery(of: target, body: body) { return .app(delivery) }
      guard let next = WebAddress(target) else { throw Failure.badLocation(location) }
      address = next
    }
    throw Failure.tooManyRedirects
  }
}
