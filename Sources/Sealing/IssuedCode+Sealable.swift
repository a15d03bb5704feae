public import OAuth

extension IssuedCode: Sealable {
  /// The only version that is read. A code is valid for at most ten minutes, so all codes of version 1 have expired.
  private static let formatVersion: UInt8 = 2

  /// `.code`, because the sealed value is the authorization code that the client receives.
  public static var purpose: Purpose { .code }

  /// Appends the fields in the current format version.
  public func write(to payload: inout PayloadWriter) {
    payload.writeByte(IssuedCode.formatVersion)
    payload.writeBytes(withoutLength: transactionID.bytes)
    payload.writeTime(expiry)
    payload.writeBinding(binding)
    payload.writeText(upstreamCode.reveal())
  }

  /// Reads the current format version. Throws `PayloadError` for any other form.
  public init(from payload: inout PayloadReader) throws(PayloadError) {
    try payload.checkFormatVersion(IssuedCode.formatVersion)
    let transactionID = try payload.readTransactionID()
    let expiry = try payload.readTime()
    let binding = try payload.readBinding()
    let upstreamCode = Secret(try payload.readText())
    self.init(transactionID: transactionID, binding: binding, upstreamCode: upstreamCode, expiry: expiry)
  }
}
