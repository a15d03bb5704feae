import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, section 3.1.1; RFC 8252, section 8.2; RFC 9700, section 2.1.2. Hybrid types are refused for everyone: sealing the
  /// code breaks `c_hash`.
  static var responseTypeIsCode: Rule {
    Rule(name: "response_type is code") { context in
      guard let type = context.responseType else {
        return .refuse(context.parameters[.responseType] == nil ? .responseTypeMissing : .responseTypeMalformed)
      }
      guard type != .code else { return .pass }
      // A public native app is told that it may not; a web client, that nobody may.
      let isNative = context.client?.application == .native && context.client?.kind == .public
      return .refuse(type.isKnown && type.returnsTokens && isNative ? .responseTypeForNative : .responseTypeUnsupported)
    }
  }
}
