public import OAuth

extension IssuedCode: Sealable {
  /// Versions 1 and 2 have no epoch. Version 3 has the same fields as version 4, but the gateway recorded the use of a
  /// code of version 3 under another key of the store. The present version would not find this record and would accept
  /// the code again. No earlier version is read: a code is valid for ten minutes at most.
  private static let formatVersion: UInt8 = 4

  /// `.code`, because the sealed value is the authorization code that the client receives.
  public static var purpose: Purpose { .code }

  /// Appends the fields in the current format version.
  public func write(to payload: inout PayloadWriter) {
    payload.writeByte(IssuedCode.formatVersion)
    payload.writeBytes(withoutLength: transactionID.bytes)
    payload.writeTime(expiry)
    payload.writeNumber(epoch.rawValue)
    payload.writeBinding(binding)
    payload.writeText(upstreamCode.reveal())
  }

  /// Reads the current format version. Throws `PayloadError` for any other form.
  public init(from payload: inout PayloadReader) throws(PayloadError) {
    try payload.checkFormatVersion(IssuedCode.formatVersion)
    let transactionID = try payload.readTransactionID()
    let expiry = try payload.readTime()
    let epoch = EpochID(rawValue: try payload.readNumber())
    let binding = try payload.readBinding()
    let upstreamCode = Secret(try payload.readText())
    self.init(
      transactionID: transactionID, binding: binding, upstreamCode: upstreamCode, expiry: expiry, epoch: epoch)
  }
}
