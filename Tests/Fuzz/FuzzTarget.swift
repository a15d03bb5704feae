/// A parser under fuzzing. The name of a case is the name of its corpus folder and the value for `make fuzz TARGET=`.
///
/// A new parser needs a case here, a file in `Targets/` with its properties, and a folder in `Corpus/`.
enum FuzzTarget: String, CaseIterable, Sendable {
  case requestHead = "request-head"
  case responseHead = "response-head"
  case chunks
  case pump
  case http2
  case proxyHeader = "proxy-header"
  case target
  case form
  case contentCoding = "content-coding"
  case tokenAnswer = "token-answer"
  case metadata
  case clientMetadata = "client-metadata"
  case redirectURI = "redirect-uri"
  case resource
  case clientDocument = "client-document"
  case userCode = "user-code"
  case deviceAnswer = "device-answer"
  case sealed
  case redaction
  case keys
  case yaml
  case policy

  /// Throws if the input violates a property. A parser may always refuse an input.
  func check(_ input: [UInt8]) throws(Violation) {
    switch self {
    case .requestHead: try RequestHeadTarget.check(input)
    case .responseHead: try ResponseHeadTarget.check(input)
    case .chunks: try ChunkTarget.check(input)
    case .pump: try PumpTarget.check(input)
    case .http2: try HTTP2Target.check(input)
    case .proxyHeader: try ProxyHeaderTarget.check(input)
    case .target: try RequestTargetTarget.check(input)
    case .form: try FormTarget.check(input)
    case .contentCoding: try ContentCodingTarget.check(input)
    case .tokenAnswer: try TokenAnswerTarget.check(input)
    case .metadata: try MetadataTarget.check(input)
    case .clientMetadata: try ClientMetadataTarget.check(input)
    case .redirectURI: try RedirectURITarget.check(input)
    case .resource: try ResourceTarget.check(input)
    case .clientDocument: try ClientDocumentTarget.check(input)
    case .userCode: try UserCodeTarget.check(input)
    case .deviceAnswer: try DeviceAnswerTarget.check(input)
    case .sealed: try SealedTarget.check(input)
    case .redaction: try RedactionTarget.check(input)
    case .keys: try KeyFileTarget.check(input)
    case .yaml: try YAMLTarget.check(input)
    case .policy: try PolicyTarget.check(input)
    }
  }
}

/// A violated property.
struct Violation: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }

  /// Throws if `condition` is false.
  static func unless(_ condition: Bool, _ description: @autoclosure () -> String) throws(Violation) {
    guard condition else { throw Violation(description()) }
  }
}
