public import OAuth

extension RefreshGrant: Sealable {
  /// The first byte after the layout number; each bit describes one optional or repeated field.
  private struct Flags: OptionSet {
    let rawValue: UInt8

    static let hasScope = Flags(rawValue: 1)
    static let sameClientID = Flags(rawValue: 2)
    static let all: Flags = [hasScope, sameClientID]
  }

  /// The layout that is written. Layout 1 had no epoch; its tokens are valid for months, so it can still be read.
  private static let layout: UInt8 = 2

  /// `.refresh`: the value is a refresh token.
  public static var purpose: Purpose { .refresh }

  /// Appends layout 2. Fields that repeat another field or are absent are left out.
  public func write(to payload: inout PayloadWriter) {
    var flags: Flags = []
    if scope != nil { flags.insert(.hasScope) }
    if upstreamClientID == clientID { flags.insert(.sameClientID) }
    payload.byte(RefreshGrant.layout)
    payload.byte(flags.rawValue)
    payload.fixed(family.bytes)
    payload.number(UInt64(clamping: generation))
    payload.seconds(issuedAt)
    payload.number(epoch.rawValue)
    payload.text(clientID.rawValue)
    payload.text(upstreamRefreshToken.reveal())
    if let scope { payload.text(scope.text) }
    if !flags.contains(.sameClientID) { payload.text(upstreamClientID.rawValue) }
  }

  /// Reads layout 1 or 2. Throws `PayloadError` for any other form.
  public init(from payload: inout PayloadReader) throws(PayloadError) {
    let layout = try payload.byte()
    guard (1...RefreshGrant.layout).contains(layout) else { throw PayloadError() }
    let flags = try payload.flags(Flags.all)
    let family = try payload.transactionID()
    guard let generation = Int(exactly: try payload.number()) else { throw PayloadError() }
    let issuedAt = try payload.seconds()
    let epoch = layout == 1 ? EpochID.none : EpochID(rawValue: try payload.number())
    let clientID = ClientID(try payload.text())
    let upstreamRefreshToken = Secret(try payload.text())
    let scope = flags.contains(.hasScope) ? try payload.scope() : nil
    let upstreamClientID = flags.contains(.sameClientID) ? clientID : ClientID(try payload.text())
    self.init(
      family: family, generation: generation, epoch: epoch, clientID: clientID, scope: scope,
      upstreamClientID: upstreamClientID, upstreamRefreshToken: upstreamRefreshToken, issuedAt: issuedAt)
  }
}
