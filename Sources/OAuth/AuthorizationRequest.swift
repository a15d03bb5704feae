/// A request at the authorization endpoint (RFC 6749, sections 3.1 and 4.1.1), parsed but not yet judged.
///
/// A reference: its context and its endpoint share it, and a copy of the values would count references of each.
public final class AuthorizationRequest: Sendable {
  public let parameters: FormParameters
  public let problem: FormProblem?
  public let userAgent: String?
  /// The query's parameters and the body's, each as it came.
  public let sources: [FormParameters]
  private let query: String
  private let body: [UInt8]
  /// True if there is a body that is no form, so that nobody here knows what it says.
  public let hasUnreadBody: Bool
  /// Every value of `state`, wherever it stands: one of them may be a sealed state that re-enters.
  public let states: [String]

  /// - Parameters:
  ///   - method: The method, case-sensitive.
  ///   - query: What follows the question mark; `nil` without one.
  ///   - contentTypes: The values of all `Content-Type` fields.
  ///   - contentEncodings: The values of all `Content-Encoding` fields.
  ///   - body: The body; empty without one.
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
    hasUnreadBody = !body.isEmpty && !isForm
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

  /// All values under a name, of the query and of the body.
  public func all(_ parameter: ParameterName) -> [String] { sources.flatMap { $0.all(parameter) } }

  /// Returns true if the query or the body gives the parameter a value.
  public func contains(_ parameter: ParameterName) -> Bool { given.contains(parameter) }

  /// The parameters that have a value in the query or in the body.
  public var given: ParameterNames { sources.reduce([]) { $0.union($1.given) } }

  /// True if any parameter is OAuth's, in whatever spelling.
  public static func hasOAuthParameters(_ parameters: FormParameters) -> Bool {
    parameters.hasMalformedName || !parameters.given.isDisjoint(with: .atAuthorization)
      || parameters.secondRepresentation(of: .atAuthorization) != nil
  }
}
