/// A request at the authorization endpoint (RFC 6749, sections 3.1 and 4.1.1), parsed but not yet judged.
///
/// A class, because its context and its endpoint share it, and copying a struct would retain every string.
public final class AuthorizationRequest: Sendable {
  /// The parameters to judge: those of the body for a POST with a form that is not empty, otherwise those of the query.
  public let parameters: FormParameters
  /// The reason why the request has no single set of parameters to judge; `nil` if it has one.
  public let problem: FormProblem?
  /// The value of `User-Agent`; `nil` if the request has none.
  public let userAgent: String?
  /// The parameters of the query and those of the body, as sent.
  public let sources: [FormParameters]
  private let query: String
  private let body: [UInt8]
  /// True if there is a body that is not a form: its content is not parsed.
  public let hasNonFormBody: Bool
  /// Every value of `state` in the query and the body: one of them may be a sealed state that re-enters.
  public let states: [String]

  /// Parses a request.
  /// - Parameters:
  ///   - method: The method, case-sensitive.
  ///   - query: The text after the question mark; `nil` without one.
  ///   - contentTypes: The values of all `Content-Type` fields.
  ///   - contentEncodings: The values of all `Content-Encoding` fields.
  ///   - body: The body; empty if the request has no body.
  ///   - userAgent: The value of `User-Agent`.
  public init(
    method: String, query: Substring?, contentTypes: [String] = [], contentEncodings: [String] = [],
    body: [UInt8] = [], userAgent: String? = nil
  ) {
    self.userAgent = userAgent
    let isForm = FormContent.isForm(types: contentTypes, encodings: contentEncodings)
    self.query = String(query ?? "")
    self.body = body
    let parsedQuery = FormParameters(parsing: self.query)
    let parsedBody = isForm ? FormParameters(parsing: body) : FormParameters()
    let inQuery = parsedQuery ?? FormParameters()
    let inBody = parsedBody ?? FormParameters()
    sources = [inQuery, inBody]
    hasNonFormBody = !body.isEmpty && !isForm
    states = inQuery.all(.state) + inBody.all(.state)
    let usesBody = method == "POST" && !inBody.isEmpty
    parameters = usesBody ? inBody : inQuery
    problem =
      switch method {
      case _ where parsedQuery == nil || parsedBody == nil: .tooManyParameters
      case "GET", "HEAD": body.isEmpty ? nil : .split
      case "POST" where !body.isEmpty && !isForm: .bodyType
      case "POST": usesBody && AuthorizationRequest.hasOAuthParameters(inQuery) ? .split : nil
      default: .method
      }
  }

  /// The query and the body, byte for byte.
  public var texts: [[UInt8]] { [Array(query.utf8), body] }

  /// All values of a parameter, from the query and the body.
  public func all(_ parameter: ParameterName) -> [String] { sources.flatMap { $0.all(parameter) } }

  /// True if the query or the body gives the parameter a value.
  public func contains(_ parameter: ParameterName) -> Bool { given.contains(parameter) }

  /// The parameters that have a value in the query or in the body.
  public var given: ParameterNames { sources.reduce([]) { $0.union($1.given) } }

  /// True if any parameter is one of an authorization request, or can be read as one by some server. A name that cannot
  /// be decoded counts.
  public static func hasOAuthParameters(_ parameters: FormParameters) -> Bool {
    parameters.hasMalformedName || !parameters.given.isDisjoint(with: .atAuthorization)
      || parameters.alternativeSpelling(of: .atAuthorization) != nil
  }
}
