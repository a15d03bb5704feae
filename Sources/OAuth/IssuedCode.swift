public import Time

/// The content of a sealed authorization code: the upstream code, and everything with which its redemption is compared.
@dynamicMemberLookup
public struct IssuedCode: Sendable {
  /// The transaction for which the code was issued.
  public var transactionID: TransactionID
  /// The client's request and the gateway's request to the upstream. The members of the binding are also members of the
  /// code.
  public var binding: FlowBinding
  /// The code that the upstream issued.
  public var upstreamCode: Secret
  /// The time at which the code expires.
  public var expiry: UnixTime

  /// Creates the content of a code from its parts.
  public init(transactionID: TransactionID, binding: FlowBinding, upstreamCode: Secret, expiry: UnixTime) {
    self.transactionID = transactionID
    self.binding = binding
    self.upstreamCode = upstreamCode
    self.expiry = expiry
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
