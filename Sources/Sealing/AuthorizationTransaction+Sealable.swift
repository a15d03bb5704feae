public import OAuth

extension AuthorizationTransaction: Sealable {
  /// The only version that is read. A transaction is valid for a few minutes, so all transactions of version 1 have
  /// expired.
  private static let formatVersion: UInt8 = 2

  /// `.state`, because the gateway sends a transaction to the upstream as the `state` parameter.
  public static var purpose: Purpose { .state }

  /// Appends the fields in the current format version.
  public func write(to payload: inout PayloadWriter) {
    payload.writeByte(AuthorizationTransaction.formatVersion)
    payload.writeBytes(withoutLength: id.bytes)
    payload.writeTime(expiry)
    payload.writeResponseMode(
      responseMode, hasState: state != nil, isDeviceFlow: isDeviceFlow, hasFurtherParameters: hasFurtherParameters,
      address: binding.client.upstreamAddress)
    payload.writeBinding(binding)
    if let state { payload.writeText(state) }
    payload.writeBytes(browserSecretHash)
  }

  /// Reads the current format version. Throws `PayloadError` for any other form.
  public init(from payload: inout PayloadReader) throws(PayloadError) {
    try payload.checkFormatVersion(AuthorizationTransaction.formatVersion)
    let id = try payload.readTransactionID()
    let expiry = try payload.readTime()
    let mode = try payload.readResponseMode()
    var binding = try payload.readBinding()
    binding.client.upstreamAddress = mode.address
    let state = mode.hasState ? try payload.readText() : nil
    let browserSecretHash = try payload.readBytes()
    self.init(
      id: id, binding: binding, state: state, responseMode: mode.mode, isDeviceFlow: mode.isDeviceFlow,
      hasFurtherParameters: mode.hasFurtherParameters, expiry: expiry, browserSecretHash: browserSecretHash)
  }
}
