import OAuth
import Sealing
import Time

/// The token in the form in which a user enters a code. The gateway seals it (encrypts and authenticates it), so it shows
/// that the gateway sent the form to this browser (RFC 6749, section 10.12).
struct DeviceEntryToken: Sealable {
  static var purpose: Purpose { .device }
  /// The first byte: the kind of the value, and the version of its format.
  private static let form: UInt8 = 3
  private static let hashLength = 32

  /// The SHA-256 digest of the browser's secret (`BrowserSession`).
  let browserHash: [UInt8]
  /// The time at which the form expires.
  let expiry: UnixTime

  init(browserHash: [UInt8], expiry: UnixTime) {
    self.browserHash = browserHash
    self.expiry = expiry
  }

  init(from payload: inout PayloadReader) throws(PayloadError) {
    guard try payload.readByte() == DeviceEntryToken.form else { throw PayloadError() }
    browserHash = try payload.readBytes(count: DeviceEntryToken.hashLength)
    expiry = UnixTime(seconds: Int64(clamping: try payload.readNumber()))
  }

  func write(to payload: inout PayloadWriter) {
    payload.writeByte(DeviceEntryToken.form)
    payload.writeBytes(withoutLength: browserHash)
    payload.writeNumber(UInt64(clamping: expiry.seconds))
  }
}

/// The token in the form in which a user confirms a device after the sign-in. It contains the upstream's code in sealed
/// form, so nothing is stored or redeemed before the user approves.
struct DeviceApprovalToken: Sealable {
  static var purpose: Purpose { .device }
  /// The first byte: the kind of the value, and the version of its format.
  private static let form: UInt8 = 4
  private static let hashLength = 32

  /// The SHA-256 digest of the browser's secret (`BrowserSession`).
  let browserHash: [UInt8]
  /// The upstream's code. Its transaction is the flow, and it expires with the flow.
  let code: IssuedCode

  init(browserHash: [UInt8], code: IssuedCode) {
    self.browserHash = browserHash
    self.code = code
  }

  init(from payload: inout PayloadReader) throws(PayloadError) {
    guard try payload.readByte() == DeviceApprovalToken.form else { throw PayloadError() }
    browserHash = try payload.readBytes(count: DeviceApprovalToken.hashLength)
    code = try IssuedCode(from: &payload)
  }

  func write(to payload: inout PayloadWriter) {
    payload.writeByte(DeviceApprovalToken.form)
    payload.writeBytes(withoutLength: browserHash)
    code.write(to: &payload)
  }
}
