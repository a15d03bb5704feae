import OAuth

/// The parameters of an authorization response that `upstream.response_parameters` may list: those that neither a
/// specification that the gateway implements nor the gateway itself gives a meaning.
public enum ResponseParameters {
  /// The maximum number of listed names. No known server has more than five that an app needs.
  public static let maximumCount = 8
  /// The maximum length of a name in bytes.
  public static let maximumNameLength = 64
  /// The maximum length of a decoded value in bytes. Identifiers and addresses are shorter. All values together leave
  /// room for the code and `state` in the redirect to the client.
  public static let maximumValueLength = 512

  /// The parameters of responses with tokens, and of a response in one signed value, that the gateway never sends.
  static let tokenNames: Set<String> = [
    "access_token", "expires_in", "id_token", "refresh_token", "response", "token_type",
  ]

  /// Returns true if the text has the form of a parameter name (RFC 6749, section 8.2) and is not too long.
  public static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= maximumNameLength
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
      }
  }

  /// Returns true if a client could take the parameter for one that the gateway sets or reads in a response, or for a
  /// token.
  public static func isReserved(_ name: String) -> Bool {
    let parameters = FormParameters([FormParameters.Entry(name, "")])
    return parameters.entries.contains { ParameterNames.inResponse.contains($0.parameter) }
      || parameters.alternativeSpelling(of: .inResponse) != nil
      || tokenNames.contains(name.lowercased().replacing(".", with: "_"))
  }
}
