public import OAuth

extension IssuedCode: Sealable {
  /// Versions 1 and 2 have no epoch. Version 3 has the same fields as version 4, but the gateway recorded the use of a
  /// code of version 3 under another key of the store. The present version would not find this record and would accept
  /// the code again. Versions 4 and 5 have no origin. No earlier version is read: a code is valid for ten minutes at most.
  private static let formatVersion: UInt8 = 6
  /// The version of a code with the id of an address of the upstream, after the origin. The other fields are those of
  /// version 6, which is written if the upstream has one address.
  private static let formatVersionWithAddress: UInt8 = 7

  /// `.code`, because the sealed value is the authorization code that the client receives.
  public static var purpose: Purpose { .code }

  /// Appends the fields in the current format version.
  public func write(to payload: inout PayloadWriter) {
    let address = binding.client.upstreamAddress
    payload.writeByte(address == nil ? IssuedCode.formatVersion : IssuedCode.formatVersionWithAddress)
    payload.writeBytes(withoutLength: transactionID.bytes)
    payload.writeTime(expiry)
    payload.writeNumber(epoch.rawValue)
    payload.writeNumber(origin.browser)
    payload.writeNumber(origin.network ?? 0)
    if let address { payload.writeAddress(address) }
    payload.writeBinding(binding)
    payload.writeText(upstreamCode.reveal())
  }

  /// Reads the current format version. Throws `PayloadError` for any other form.
  public init(from payload: inout PayloadReader) throws(PayloadError) {
    let version = try payload.readByte()
    guard version == IssuedCode.formatVersion || version == IssuedCode.formatVersionWithAddress else {
      throw PayloadError()
    }
    let transactionID = try payload.readTransactionID()
    let expiry = try payload.readTime()
    let epoch = EpochID(rawValue: try payload.readNumber())
    let origin = SignInOrigin(browser: try payload.readNumber(), network: try payload.readNumber())
    let address = version == IssuedCode.formatVersionWithAddress ? try payload.readAddress() : nil
    var binding = try payload.readBinding()
    binding.client.upstreamAddress = address
    let upstreamCode = Secret(try payload.readText())
    self.init(
      transactionID: transactionID, binding: binding, upstreamCode: upstreamCode, expiry: expiry, epoch: epoch,
      origin: origin)
  }
}
