/// The answer to one question about the server.
package struct Finding: Sendable, Encodable {
  /// The certainty of an answer.
  package enum Certainty: String, Sendable, Encodable {
    /// The server has shown it.
    case certain
    /// The answers of the server are explained best by it.
    case likely
    /// The question is open.
    case notTested = "not_tested"
  }

  /// The part of the server.
  package enum Topic: String, Sendable, Encodable, CaseIterable {
    case metadata, endpoints, authorization, token
    case signIn = "sign_in"
    case gateway

    /// The heading in the report.
    var title: String {
      switch self {
      case .metadata: "Metadata"
      case .endpoints: "Endpoints"
      case .authorization: "Authorization endpoint"
      case .token: "Token endpoint"
      case .signIn: "Sign-in"
      case .gateway: "The way around the gateway"
      }
    }
  }

  private enum CodingKeys: String, CodingKey {
    case topic, id, title, certainty, value, text, advice
    case isWarning = "warning"
  }

  package let topic: Topic
  /// The name of the question, for programs.
  package let id: String
  /// The question in words.
  package let title: String
  package let certainty: Certainty
  /// The answer for programs; `nil` if it was not tested.
  package let value: String?
  /// The answer in words, or the reason why there is none.
  package let text: String
  /// The action of the operator; `nil` if none is needed.
  package var advice: String?
  /// True if the operator should act before the gateway is used.
  package var isWarning = false

  /// Returns an answer.
  static func found(
    _ topic: Topic, _ id: String, _ title: String, _ value: some CustomStringConvertible, _ text: String,
    _ certainty: Certainty = .certain, advice: String? = nil, isWarning: Bool = false
  ) -> Finding {
    Finding(
      topic: topic, id: id, title: title, certainty: certainty, value: value.description, text: text, advice: advice,
      isWarning: isWarning)
  }

  /// Returns an open question with the reason.
  static func open(_ topic: Topic, _ id: String, _ title: String, _ reason: String) -> Finding {
    Finding(
      topic: topic, id: id, title: title, certainty: .notTested, value: nil, text: "not tested: \(reason)")
  }
}
