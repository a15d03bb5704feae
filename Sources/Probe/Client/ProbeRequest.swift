import OAuth

/// A request of the probe. Its description has no parameters, because they can be secrets.
package struct ProbeRequest: Sendable, CustomStringConvertible, CustomReflectable {
  /// The method.
  package enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
  }

  /// A parameter of the query (GET) or of the form (POST).
  package struct Parameter: Sendable {
    package let name: String
    package let value: String

    init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package let method: Method
  /// The path, with the slash at its beginning.
  package let path: String
  package var parameters: [Parameter]
  /// The `Authorization` field.
  package var authorization: Secret?
  /// The `Host` field; `nil` for the host of the server's URL.
  package var host: String?

  init(_ method: Method, _ path: String, _ parameters: [Parameter] = [], authorization: Secret? = nil) {
    self.method = method
    self.path = path
    self.parameters = parameters
    self.authorization = authorization
  }

  /// The parameters, encoded as a form.
  private var encoded: String {
    parameters.map { FormEncoding.encode($0.name) + "=" + FormEncoding.encode($0.value) }.joined(separator: "&")
  }

  /// The request target in origin form.
  package var target: String {
    guard method == .get, !parameters.isEmpty else { return path }
    return path + (path.contains("?") ? "&" : "?") + encoded
  }

  /// The body; empty for a GET.
  package var body: [UInt8] { method == .post ? Array(encoded.utf8) : [] }

  /// The method and the path.
  package var description: String { "\(method.rawValue) \(path)" }
  /// A mirror without children, so that `dump` shows no parameters.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
