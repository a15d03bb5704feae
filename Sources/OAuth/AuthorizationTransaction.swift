public import Time

/// The content of the sealed (encrypted and authenticated) state: everything that the gateway needs to complete an
/// authorization request. The gateway sends the sealed state upstream, and the upstream returns it unchanged.
@dynamicMemberLookup
public struct AuthorizationTransaction: Sendable, Equatable {
  /// The identifier of the transaction.
  public var id: TransactionID
  /// The values of the client's request and of the gateway's request to the upstream. The members of the binding are
  /// also members of the transaction.
  public var binding: FlowBinding
  /// The `state` of the client, decoded; `nil` if the client sent none.
  public var state: String?
  /// The mode in which the client receives the response.
  public var responseMode: ResponseMode
  /// True if a device waits for the result (RFC 8628). No redirect URI of the client then receives a response, and the
  /// id of the transaction is that of the device flow.
  public var isDeviceFlow: Bool
  /// True if the request has a parameter that affects the sign-in and is not in the transaction, such as `nonce`. The
  /// gateway then cannot repeat the request.
  public var hasFurtherParameters: Bool
  /// The time at which the transaction expires.
  public var expiry: UnixTime
  /// The SHA-256 digest of the secret in the browser's cookie, 32 bytes.
  public var browserSecretHash: [UInt8]

  /// Creates a transaction from its parts.
  public init(
    id: TransactionID, binding: FlowBinding, state: String?, responseMode: ResponseMode, isDeviceFlow: Bool = false,
    hasFurtherParameters: Bool = false, expiry: UnixTime, browserSecretHash: [UInt8]
  ) {
    self.id = id
    self.binding = binding
    self.state = state
    self.responseMode = responseMode
    self.isDeviceFlow = isDeviceFlow
    self.hasFurtherParameters = hasFurtherParameters
    self.expiry = expiry
    self.browserSecretHash = browserSecretHash
  }

  /// A member of ``binding``.
  @inlinable
  public subscript<Value>(dynamicMember value: WritableKeyPath<FlowBinding, Value>) -> Value {
    get { binding[keyPath: value] }
    set { binding[keyPath: value] = newValue }
  }

  /// A member of the client's part of ``binding``.
  @inlinable
  public subscript<Value>(dynamicMember value: WritableKeyPath<ClientBinding, Value>) -> Value {
    get { binding.client[keyPath: value] }
    set { binding.client[keyPath: value] = newValue }
  }
}

/// The values that a transaction and its code have in common: those of the client's authorization request, and those of
/// the gateway's request to the upstream.
public struct FlowBinding: Sendable, Equatable {
  /// The client ids, the scope and the resource. A refresh token contains them, too.
  public var client: ClientBinding
  /// The redirect URI that receives the response: the requested one, including a loopback port, or the only registered
  /// one if the request omitted it.
  public var redirectURI: RedirectURI
  /// True if the request contained `redirect_uri`. The token request must then repeat it (RFC 6749, section 4.1.3),
  /// except under the OAuth 2.1 profile if the client sent a code challenge.
  public var redirectURIWasSent: Bool
  /// The code challenge of the client; `nil` if the client sent none.
  public var challenge: CodeChallenge?
  /// The redirect URI in the gateway's requests to the upstream.
  public var upstreamRedirectURI: String
  /// The verifier for the challenge that the gateway sent upstream; `nil` if the gateway sent none, because the
  /// upstream does not support PKCE.
  public var upstreamVerifier: UpstreamVerifier?

  /// Creates a binding from its parts. An id that the gateway issued is kept in its short form.
  public init(
    clientID: ClientID, redirectURI: RedirectURI, redirectURIWasSent: Bool, challenge: CodeChallenge?, scope: Scope?,
    upstreamClientID: ClientID, upstreamRedirectURI: String, upstreamVerifier: UpstreamVerifier? = nil,
    resource: String? = nil, document: ClientMetadata? = nil, registration: RegistrationOutline? = nil
  ) {
    client = ClientBinding(
      clientID: clientID.shortForm, scope: scope, upstreamClientID: upstreamClientID, resource: resource,
      document: document, registration: registration)
    self.redirectURI = redirectURI
    self.redirectURIWasSent = redirectURIWasSent
    self.challenge = challenge
    self.upstreamRedirectURI = upstreamRedirectURI
    self.upstreamVerifier = upstreamVerifier
  }
}

/// The content of a sealed authorization code: the upstream code, and the values with which the client's token request
/// is compared.
@dynamicMemberLookup
public struct IssuedCode: Sendable {
  /// The transaction for which the code was issued.
  public var transactionID: TransactionID
  /// The values of the client's request and of the gateway's request to the upstream. The members of the binding are
  /// also members of the code.
  public var binding: FlowBinding
  /// The code that the upstream issued.
  public var upstreamCode: Secret
  /// The time at which the code expires.
  public var expiry: UnixTime
  /// The epoch of the store when the code was sealed. Only a store that is still in this epoch can guarantee that the
  /// code is used only once.
  public var epoch: EpochID
  /// The browser that received the code, and its network.
  public var origin: SignInOrigin

  /// Creates the content of a code from its parts.
  public init(
    transactionID: TransactionID, binding: FlowBinding, upstreamCode: Secret, expiry: UnixTime, epoch: EpochID,
    origin: SignInOrigin
  ) {
    self.transactionID = transactionID
    self.binding = binding
    self.upstreamCode = upstreamCode
    self.expiry = expiry
    self.epoch = epoch
    self.origin = origin
  }

  /// A member of ``binding``.
  @inlinable
  public subscript<Value>(dynamicMember value: WritableKeyPath<FlowBinding, Value>) -> Value {
    get { binding[keyPath: value] }
    set { binding[keyPath: value] = newValue }
  }

  /// A member of the client's part of ``binding``.
  @inlinable
  public subscript<Value>(dynamicMember value: WritableKeyPath<ClientBinding, Value>) -> Value {
    get { binding.client[keyPath: value] }
    set { binding.client[keyPath: value] = newValue }
  }
}
