public import HTTP

/// A scripted browser with cookies, redirects and forms. The caller provides the transport.
public struct DemoBrowser {
  /// Sends one request to the server of an address and returns its response. The request's target and `Host` are set.
  public typealias Send = (WebAddress, Request) async throws -> Response

  /// The result of a step of the browser.
  public enum Stop: Sendable {
    case page(Page)
    /// The operating system opened the app, or its loopback server received the request.
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
    /// The words on the page, without markup.
    public var text: String { HTMLForm.text(of: html) }
  }

  /// The authorization response that reached the app.
  public struct Delivery: Sendable {
    /// The URL that was opened.
    public var address: String
    /// The parameters of the query, the fragment and, for form_post, the body.
    public var parameters: Form
  }

  /// An error of a redirect chain.
  public enum Failure: Error, Equatable {
    case tooManyRedirects
    /// A redirect without a usable address.
    case badLocation(String)
  }

  /// The cookies of this browser.
  public var cookies = CookieJar()
  /// The `User-Agent` of every request; `nil` for none.
  public var userAgent: String? = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
  /// The app's redirect URI: addresses that begin with it go to the app, as do all addresses of schemes other than http
  /// and https.
  public var appRedirectURI: String?
  /// Every request and response, in order, as a browser's network panel shows them. Empty unless ``keepsLog``.
  public private(set) var log: [(address: WebAddress, request: Request, response: Response)] = []
  /// True to record ``log``.
  public var keepsLog = false

  private let send: Send

  /// Creates a browser without cookies.
  public init(appRedirectURI: String? = nil, send: @escaping Send) {
    self.appRedirectURI = appRedirectURI
    self.send = send
  }

  /// Opens an address and follows redirects until a page or the app.
  public mutating func open(_ address: WebAddress) async throws -> Stop {
    try await follow(address, method: "GET", body: nil)
  }

  /// Submits a form of a page.
  public mutating func submit(
    _ form: HTMLForm, on page: Page, _ values: [String: String] = [:], button: HTMLForm.Control? = nil
  ) async throws -> Stop {
    let sent = form.submission(values, button: button)
    let reference = page.address.resolving(form.action)
    guard form.method == "POST" else {
      let bare = String(reference.prefix { $0 != "?" })
      return try await go(to: sent.added(to: bare), method: "GET", body: nil)
    }
    return try await go(to: reference, method: "POST", body: sent)
  }

  private mutating func go(to address: String, method: String, body: Form?) async throws -> Stop {
    if let delivery = delivery(of: address, body: body) { return .app(delivery) }
    guard let web = WebAddress(address) else { throw Failure.badLocation(address) }
    return try await follow(web, method: method, body: body)
  }

  private func delivery(of address: String, body: Form?) -> Delivery? {
    let isWeb = address.hasPrefix("http://") || address.hasPrefix("https://")
    guard !isWeb || isApp(address) else { return nil }
    var parameters = Form()
    let bare = address.prefix { $0 != "#" }
    if let mark = bare.firstIndex(of: "?") { parameters = Form(decoding: bare[bare.index(after: mark)...]) }
    if let mark = address.firstIndex(of: "#") {
      parameters.fields += Form(decoding: address[address.index(after: mark)...]).fields
    }
    parameters.fields += body?.fields ?? []
    return Delivery(address: address, parameters: parameters)
  }

  private func isApp(_ address: String) -> Bool {
    guard let appRedirectURI, address.hasPrefix(appRedirectURI) else { return false }
    let next = address.dropFirst(appRedirectURI.count).first
    return next == nil || next == "?" || next == "&" || next == "#"
  }

  private mutating func follow(_ address: WebAddress, method: String, body: Form?) async throws -> Stop {
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
        // Browsers do so for 301 and 302, too (RFC 9110, section 15.4.3).
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
