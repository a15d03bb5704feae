/// A request at the authorization endpoint (RFC 6749, sections 3.1 and 4.1.1), parsed but not yet checked.
///
/// A class, because several types contain the same request, and a copy of a structure would increment the reference
/// count of every string in it.
public final class AuthorizationRequest: Sendable {
  /// The parameters to check. They are those of the body for a POST whose form has parameters, otherwise those of the
  /// query.
  public let parameters: FormParameters
  /// The defect of the method, the body or the set of parameters; `nil` if there is none.
  public let problem: FormProblem?
  /// The value of `User-Agent`; `nil` if the request has none.
  public let userAgent: String?
  /// Two lists: the parameters of the query, and those of the body. A list with too many parameters is empty. So is
  /// that of a body that is not a form.
  public let sources: [FormParameters]
  private let query: String
  private let body: [UInt8]
  /// True if there is a body that is not a form. Its content is not parsed.
  public let hasNonFormBody: Bool
  /// All values of `state` in the query and the body, except empty ones. One of them may be a state that the gateway
  /// sealed (encrypted and authenticated).
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
    let queryParameters = parsedQuery ?? FormParameters()
    let bodyParameters = parsedBody ?? FormParameters()
    sources = [queryParameters, bodyParameters]
    hasNonFormBody = !body.isEmpty && !isForm
    states = queryParameters.all(.state) + bodyParameters.all(.state)
    let usesBody = method == "POST" && !bodyParameters.isEmpty
    parameters = usesBody ? bodyParameters : queryParameters
    problem =
      switch method {
      case _ where parsedQuery == nil || parsedBody == nil: .tooManyParameters
      case "GET", "HEAD": body.isEmpty ? nil : .split
      case "POST" where !body.isEmpty && !isForm: .bodyType
      case "POST": usesBody && AuthorizationRequest.hasOAuthParameters(queryParameters) ? .split : nil
      default: .method
      }
  }

  /// The query and the body, byte for byte.
  public var texts: [[UInt8]] { [Array(query.utf8), body] }

  /// Returns all values of a parameter, from the query and the body, except those that are empty or cannot be decoded.
  public func all(_ parameter: ParameterName) -> [String] { sources.flatMap { $0.all(parameter) } }

  /// True if the parameter has a value in the query or the body.
  public func contains(_ parameter: ParameterName) -> Bool { given.contains(parameter) }

  /// The parameters that have a value in the query or the body, even one that cannot be decoded.
  public var given: ParameterNames { sources.reduce([]) { $0.union($1.given) } }

  /// Returns true if the list contains a parameter of an authorization request with a value, a name that some server
  /// may read as such a parameter, or a name that cannot be decoded.
  public static func hasOAuthParameters(_ parameters: FormParameters) -> Bool {
    parameters.hasMalformedName || !parameters.given.isDisjoint(with: .atAuthorization)
      || parameters.alternativeSpelling(of: .atAuthorization) != nil
  }
}
