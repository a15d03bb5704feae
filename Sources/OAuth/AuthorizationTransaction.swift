public import Time

/// The content of the sealed state: everything that the gateway needs to complete an authorization request. The
/// upstream returns the sealed state unchanged.
@dynamicMemberLookup
public struct AuthorizationTransaction: Sendable, Equatable {
  /// The identifier of the transaction.
  public var id: TransactionID
  /// The client's request and the gateway's request to the upstream. The members of the binding are also members of the
  /// transaction.
  public var binding: FlowBinding
  /// The `state` of the client, decoded; `nil` if the client sent none.
  public var state: String?
  /// The mode in which the client receives the response.
  public var responseMode: ResponseMode
  /// The time at which the transaction expires.
  public var expiry: UnixTime
  /// The SHA-256 digest of the secret in the browser's cookie, 32 bytes.
  public var browserSecretHash: [UInt8]

  /// Creates a transaction from its parts.
  public init(
    id: TransactionID, binding: FlowBinding, state: String?, responseMode: ResponseMode, expiry: UnixTime,
    browserSecretHash: [UInt8]
  ) {
    self.id = id
    self.binding = binding
    self.state = state
    self.responseMode = responseMode
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
