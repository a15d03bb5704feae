/// The stable name of a kind of finding. `docs/policy.md` explains each kind.
public enum DiagnosticID: String, Sendable, CaseIterable {
  // The syntax of the file, and the files that it names.
  case unreadableFile = "unreadable-file"
  case invalidYAML = "invalid-yaml"
  case unknownKey = "unknown-key"
  case missingKey = "missing-key"
  case missingValue = "missing-value"
  case wrongType = "wrong-type"
  case invalidValue = "invalid-value"
  case duplicateValue = "duplicate-value"
  case conflict = "conflicting-settings"
  case unreadableSecret = "unreadable-secret"
  case inlineSecret = "inline-secret"
  case invalidCertificate = "invalid-certificate"
  case invalidKeyFile = "invalid-key-file"
  case include = "include"
  case notYetSupported = "not-yet-supported"

  // The gateway and its upstream.
  case plaintextOrigin = "plaintext-origin"
  case issuerOrigin = "issuer-origin"
  case issuerMismatch = "issuer-differs"
  case upstreamMetadata = "upstream-metadata"
  case plaintextListener = "plaintext-listener"
  case untrustedProxy = "untrusted-proxy"
  case trustEveryone = "trust-everyone"
  case adminExposed = "admin-exposed"
  case ephemeralKey = "ephemeral-key"
  case memoryStore = "memory-store-replicas"
  case exposedSecretFile = "world-readable-secret"
  case plaintextUpstream = "plaintext-upstream"
  case networkCallback = "network-callback"
  case everythingPassed = "everything-passed"
  case notEndpointUnneeded = "not-endpoint-unneeded"
  case completionPaths = "completion-paths"
  case revocationMissing = "revocation-missing"
  case shortStateLimit = "short-state-limit"
  case certificateTime = "certificate-time"
  case weakCipher = "weak-cipher"
  case strictTransportOff = "strict-transport-off"
  case upstreamAuthority = "upstream-ca"

  // Rules, for all clients or for one.
  case observeMode = "observe-mode"
  case unknownClients = "unknown-clients"
  case unlistedOAuth = "unlisted-oauth-observed"
  case redirectKindOff = "redirect-kind-off"
  case s256Missing = "s256-missing"
  case plainEnabled = "plain-enabled"
  case lenientPKCE = "lenient-pkce-syntax"
  case stateOff = "state-off"
  case localhostAnyPort = "localhost-any-port"
  case minimumSchemes = "minimum-schemes"
  case embeddedUserAgentsOff = "embedded-user-agents-off"
  case codeLifetime = "code-lifetime"
  case deviceCodeLifetime = "device-code-lifetime"
  case refreshReuseWindow = "refresh-reuse-window"
  case refreshReuseNetworks = "refresh-reuse-networks"
  case rawRefresh = "raw-refresh-tokens"
  case rawRefreshUndecided = "raw-refresh-undecided"
  case oldVersion = "old-version-accepted"
  case pushedAuthorization = "pushed-authorization"

  // Clients.
  case clientType = "client-type"
  case nativeConfidential = "native-confidential"
  case publicSecret = "public-client-secret"
  case missingSecret = "missing-client-secret"
  case weakSecret = "weak-client-secret"
  case pkceOptional = "pkce-optional"
  case pkceNative = "pkce-native"
  case pkceOff = "pkce-off-public"
  case pkceProfile = "pkce-profile"
  case grant = "grant-not-allowed"
  case noRedirectURI = "no-redirect-uri"
  case consentUpstream = "consent-upstream"
  case consentRemembered = "consent-remembered"
  case sharedUpstreamClient = "shared-upstream-client"
  case responseMode = "response-mode"
  case droppedScope = "dropped-scope"

  // Redirect URIs.
  case invalidRedirectURI = "invalid-redirect-uri"
  case outOfBand = "out-of-band"
  case plaintextRedirect = "plaintext-redirect"
  case loopbackNotNative = "loopback-not-native"
  case schemeNotNative = "private-scheme-not-native"
  case localhostRedirect = "localhost-redirect"
  case documentHost = "document-host"
  case registeredHost = "registered-host"
  case loopbackNoPath = "loopback-no-path"
  case noPath = "no-path"
  case schemeAuthority = "scheme-authority"
  case schemeNotReversed = "scheme-not-reversed"
  case schemeTooLong = "scheme-too-long"
  case sharedScheme = "shared-scheme"
  case sharedRedirectURI = "shared-redirect-uri"

  // Resources.
  case resourceStore = "resource-store"
  case resourceObserved = "resource-observed"
  case checkExposed = "check-exposed"
}

extension DiagnosticID {
  /// Returns the kind of finding for a value that is above the upper bound of the setting `key`.
  static func exceededMaximum(of key: String) -> Self {
    switch key {
    case "code_lifetime": .codeLifetime
    case "device_code_lifetime": .deviceCodeLifetime
    case "refresh_reuse_window": .refreshReuseWindow
    default: .invalidValue
    }
  }

  /// True if the finding is about the meaning of the settings, such as a rule that departs from an RFC. False if a key
  /// or a value does not have the format of the policy, if settings exclude each other, or if a file or an environment
  /// variable that the policy names cannot be used.
  public var isLint: Bool {
    switch self {
    case .unreadableFile, .invalidYAML, .unknownKey, .missingKey, .missingValue, .wrongType, .invalidValue,
      .duplicateValue, .conflict, .unreadableSecret, .inlineSecret, .include, .notYetSupported, .invalidRedirectURI,
      .invalidCertificate, .invalidKeyFile:
      false
    default:
      true
    }
  }

  /// The section of the specification that the rule comes from; `nil` if the rule is not from a specification.
  public var reference: String? {
    switch self {
    case .unreadableFile, .invalidYAML, .unknownKey, .missingKey, .missingValue, .wrongType, .invalidValue,
      .duplicateValue, .conflict, .unreadableSecret, .inlineSecret, .include, .notYetSupported, .invalidRedirectURI,
      .trustEveryone, .adminExposed, .ephemeralKey, .memoryStore, .exposedSecretFile, .networkCallback, .observeMode,
      .unknownClients, .invalidCertificate, .certificateTime, .notEndpointUnneeded, .invalidKeyFile,
      .untrustedProxy, .everythingPassed, .unlistedOAuth, .resourceStore, .resourceObserved, .checkExposed,
      .documentHost, .registeredHost,
      .upstreamMetadata:
      nil
    case .plaintextOrigin: "RFC 8414, section 2"
    case .issuerOrigin: "RFC 8414, section 3.3"
    case .issuerMismatch: "OpenID Connect Core, section 3.1.3.7"
    case .plaintextListener, .plaintextUpstream: "RFC 6749, sections 3.1 and 3.2"
    case .weakCipher: "RFC 9325, section 4.2"
    case .strictTransportOff: "RFC 9325, section 3.2"
    case .upstreamAuthority: "RFC 9700, section 4.13"
    case .completionPaths: "RFC 9700, section 4.5"
    case .revocationMissing: "RFC 9700, section 4.14.2"
    case .shortStateLimit: "RFC 6749, section 10.10"
    case .s256Missing: "RFC 7636, section 4.2"
    case .plainEnabled: "RFC 7636, section 7.2"
    case .lenientPKCE: "RFC 7636, section 4.1"
    case .stateOff: "RFC 8252, section 8.9"
    case .localhostAnyPort, .localhostRedirect: "RFC 8252, section 8.3"
    case .minimumSchemes, .schemeNotReversed: "RFC 8252, sections 7.1 and 8.4"
    case .embeddedUserAgentsOff: "RFC 8252, section 8.12"
    case .codeLifetime: "RFC 6749, section 4.1.2"
    case .deviceCodeLifetime: "RFC 8628, section 5.4"
    case .refreshReuseWindow, .refreshReuseNetworks: "RFC 9700, section 4.14.2"
    case .rawRefresh, .rawRefreshUndecided: "RFC 6749, section 10.4"
    case .oldVersion: "RFC 7636, section 1"
    case .pushedAuthorization: "RFC 9126, section 2"
    case .clientType: "RFC 8252, section 8.4"
    case .nativeConfidential: "RFC 8252, sections 8.4 and 8.5"
    case .publicSecret: "RFC 8252, section 8.5"
    case .missingSecret: "RFC 6749, section 3.2.1"
    case .weakSecret: "RFC 6749, section 10.10"
    case .pkceOptional: "RFC 9700, section 2.1.1"
    case .pkceNative: "RFC 8252, section 8.1"
    case .pkceOff: "RFC 9700, section 2.1.1"
    case .pkceProfile: "OAuth 2.1, section 7.5.1.1"
    case .grant: "RFC 9700, sections 2.1.2 and 2.4"
    case .noRedirectURI: "RFC 6749, section 3.1.2.2"
    case .droppedScope: "RFC 6749, section 3.3"
    case .consentUpstream, .consentRemembered, .sharedUpstreamClient: "RFC 8252, section 8.6"
    case .responseMode: "OAuth 2.0 Form Post Response Mode, section 2"
    case .outOfBand, .redirectKindOff: "RFC 8252, section 7"
    case .plaintextRedirect: "RFC 9700, section 2.6"
    case .loopbackNotNative: "RFC 8252, section 7.3"
    case .schemeNotNative, .schemeAuthority: "RFC 8252, section 7.1"
    case .loopbackNoPath, .noPath: "RFC 8252, section 8.4"
    case .schemeTooLong: "RFC 8252, appendix B.3"
    case .sharedScheme: "RFC 8252, section 7.1"
    case .sharedRedirectURI: "RFC 8252, section 8.10"
    }
  }
}
