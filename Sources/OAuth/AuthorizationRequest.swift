internal import ByteText

/// A request at the authorization endpoint (RFC 6749, sections 3.1 and 4.1.1), parsed but not yet checked.
///
/// A class, because several types contain the same request, and a copy of a structure would increment the reference
/// count of every string in it.
public final class AuthorizationRequest: Sendable {
  /// The parameters to check. They are those of the body for a POST whose form has parameters, otherwise those of the
  /// query.
  public let parameters: FormParameters
  /// The defect of the method, the body or the set of parameters; `nil` if there is none.
  public let defect: RequestDefect?
  /// The value of `User-Agent`; `nil` if the request has none.
  public let userAgent: String?
  /// Two lists: the parameters of the query, and those of the body. If the query or the body has too many parameters,
  /// its list is empty. The list of a body that is not a form is empty, too.
  public let parameterSources: [FormParameters]
  /// True if the method is GET or HEAD, so that the request could come from a link or a redirect.
  public let isLink: Bool
  private let query: String
  private let body: [UInt8]
  /// True if there is a body that is not a form, whose content is not parsed. Also true if there is no body, but a
  /// `Content-Type` with a charset by which some servers would decode the query.
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
    isLink = method == "GET" || method == "HEAD"
    let isForm = FormContent.isForm(types: contentTypes, encodings: contentEncodings)
    self.query = String(query ?? "")
    self.body = body
    let parsedQuery = FormParameters(parsing: self.query)
    let parsedBody = isForm ? FormParameters(parsing: body) : FormParameters()
    let queryParameters = parsedQuery ?? FormParameters()
    let bodyParameters = parsedBody ?? FormParameters()
    parameterSources = [queryParameters, bodyParameters]
    hasNonFormBody = !isForm && (!body.isEmpty || FormContent.namesOtherCharset(contentTypes))
    states = queryParameters.all(.state) + bodyParameters.all(.state)
    let usesBody = method == "POST" && !bodyParameters.isEmpty
    parameters = usesBody ? bodyParameters : queryParameters
    defect =
      switch method {
      case _ where parsedQuery == nil || parsedBody == nil: .tooManyParameters
      // The upstream may read the body of a GET request. So any body counts as a second place of parameters, even if
      // the query is empty.
      case "GET", "HEAD": body.isEmpty ? nil : .parametersInQueryAndBody
      case "POST" where !body.isEmpty && !isForm: .bodyNotForm
      case "POST" where usesBody && AuthorizationRequest.hasOAuthParameters(queryParameters): .parametersInQueryAndBody
      case "POST": nil
      default: .method
      }
  }

  /// The query and the body, byte for byte.
  public var queryAndBody: [[UInt8]] { [Array(query.utf8), body] }

  /// Returns the value of a parameter if the query and the body contain only this value, once each or in one of them.
  /// Returns `nil` if the parameter is missing, and if it repeats in one of them or has different values.
  ///
  /// A form of the server that posts to the URL of its page has the parameters of that URL, and its body may repeat
  /// them.
  public func commonValue(of parameter: ParameterName) -> String? {
    var common: String?
    for source in parameterSources {
      switch source.lookUp(parameter) {
      case .absent: continue
      case .repeated, .malformed: return nil
      case .value(let value):
        if let common, !common.utf8.span.isEqual(to: value.utf8.span) { return nil }
        common = value
      }
    }
    return common
  }

  /// The client id of the request: that of ``parameters``, or, if these are the body and do not contain one, that of
  /// the query. `nil` if there is none, or more than one.
  public var clientID: String? { parameters[.clientID] ?? commonValue(of: .clientID) }

  /// Returns all values of a parameter, from the query and the body, except those that are empty or cannot be decoded.
  public func all(_ parameter: ParameterName) -> [String] { parameterSources.flatMap { $0.all(parameter) } }

  /// True if the parameter has a value in the query or the body.
  public func contains(_ parameter: ParameterName) -> Bool { parametersWithValue.contains(parameter) }

  /// The parameters that have a value in the query or the body, even one that cannot be decoded.
  public var parametersWithValue: ParameterNames { parameterSources.reduce([]) { $0.union($1.parametersWithValue) } }

  /// Returns true if `parameters` contains one of the following: a parameter that is defined for the authorization
  /// endpoint and has a value, a name that some server may read as the name of such a parameter, or a name that cannot
  /// be decoded.
  public static func hasOAuthParameters(_ parameters: FormParameters) -> Bool {
    parameters.hasMalformedName || !parameters.parametersWithValue.isDisjoint(with: .atAuthorization)
      || parameters.alternativeSpelling(of: .atAuthorization) != nil
  }
}
