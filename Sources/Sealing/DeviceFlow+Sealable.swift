public import OAuth
internal import Time

extension DeviceCode: Sealable {
  /// `.device`, as for all values of a device flow. The first byte of each distinguishes them.
  public static var purpose: Purpose { .device }
  /// The first byte of a code whose flow the gateway runs: the kind of the value, and the version of its format.
  private static let form: UInt8 = 1
  /// The first byte of a code whose flow the upstream runs. 2 to 4 and 7 are other values of device flows.
  private static let formWithUpstreamCode: UInt8 = 5
  /// The first byte of a code with a resource. The resource follows, and then the code as without it.
  private static let formWithResource: UInt8 = 6
  /// The first byte of a code with the id of an address of the upstream, after the resource, if any. The id follows, and
  /// then the code as without it.
  private static let formWithAddress: UInt8 = 8

  /// Appends the fields in the current format.
  public func write(to payload: inout PayloadWriter) {
    if let resource {
      payload.writeByte(DeviceCode.formWithResource)
      payload.writeText(resource)
    }
    if let address = upstream?.upstreamAddress {
      payload.writeByte(DeviceCode.formWithAddress)
      payload.writeAddress(address)
    }
    payload.writeByte(upstream == nil ? DeviceCode.form : DeviceCode.formWithUpstreamCode)
    payload.writeBytes(withoutLength: flow.bytes)
    payload.writeTime(expiry)
    payload.writeText(clientID.rawValue)
    guard let upstream else { return }
    payload.writeNumber(upstream.epoch.rawValue)
    payload.writeText(upstream.upstreamClientID.rawValue)
    payload.writeText(upstream.scope?.text ?? "")
    payload.writeText(upstream.code.reveal())
  }

  /// Reads the current format. Throws `PayloadError` for any other form.
  public init(from payload: inout PayloadReader) throws(PayloadError) {
    var form = try payload.readByte()
    var resource: String?
    if form == DeviceCode.formWithResource {
      resource = try payload.readText()
      form = try payload.readByte()
    }
    var address: UInt16?
    if form == DeviceCode.formWithAddress {
      address = try payload.readAddress()
      form = try payload.readByte()
    }
    guard form == DeviceCode.formWithUpstreamCode || form == DeviceCode.form && address == nil else {
      throw PayloadError()
    }
    let flow = try payload.readTransactionID()
    let expiry = try payload.readTime()
    self.init(flow: flow, clientID: ClientID(try payload.readText()), expiry: expiry, resource: resource)
    guard form == DeviceCode.formWithUpstreamCode else { return }
    let epoch = EpochID(rawValue: try payload.readNumber())
    let upstreamClientID = ClientID(try payload.readText())
    let scope = try payload.readText()
    guard
      var upstream = UpstreamDeviceCode(
        code: Secret(try payload.readText()), upstreamClientID: upstreamClientID,
        scope: scope.isEmpty ? nil : Scope(parsing: scope), epoch: epoch)
    else { throw PayloadError() }
    upstream.upstreamAddress = address
    self.upstream = upstream
  }
}

extension DeviceFlow: Sealable {
  /// `.device`, as for all values of a device flow.
  public static var purpose: Purpose { .device }
  /// The first byte: the kind of the value, and the version of its format.
  private static let form: UInt8 = 2
  /// The first byte of a record with a resource. The resource follows, and then the record as without it.
  private static let formWithResource: UInt8 = 7
  /// The length of the data of a state. Shorter data is filled up, so that a record never grows by its state.
  private static let dataLength = 32

  /// Appends the fields in the current format.
  public func write(to payload: inout PayloadWriter) {
    if let resource {
      payload.writeByte(DeviceFlow.formWithResource)
      payload.writeText(resource)
    }
    payload.writeByte(DeviceFlow.form)
    let (number, data): (UInt8, [UInt8]) =
      switch state {
      case .pending: (0, [])
      case .bound(let browserHash): (1, browserHash)
      case .approved(let codeDigest): (2, codeDigest)
      case .ended: (3, [])
      case .redeemed(let codeDigest): (4, codeDigest)
      }
    payload.writeByte(number)
    payload.writeByte(UInt8(data.count))
    let filled = data + [UInt8](repeating: 0, count: DeviceFlow.dataLength - data.count)
    payload.writeBytes(withoutLength: filled)
    payload.writeText(clientID.rawValue)
    payload.writeText(scope?.text ?? "")
    payload.writeText(userCode.letters)
    payload.writeText(network)
    payload.writeTime(start)
    payload.writeTime(expiry)
    payload.writeNumber(UInt64(clamping: interval.count))
    payload.writeTime(lastPoll ?? start)
    payload.writeByte(lastPoll == nil ? 0 : 1)
  }

  /// Reads the current format. Throws `PayloadError` for any other form.
  public init(from payload: inout PayloadReader) throws(PayloadError) {
    var form = try payload.readByte()
    var resource: String?
    if form == DeviceFlow.formWithResource {
      resource = try payload.readText()
      form = try payload.readByte()
    }
    guard form == DeviceFlow.form else { throw PayloadError() }
    let number = try payload.readByte()
    let count = Int(try payload.readByte())
    let filled = try payload.readBytes(count: DeviceFlow.dataLength)
    guard count <= DeviceFlow.dataLength else { throw PayloadError() }
    let data = Array(filled.prefix(count))
    guard filled.dropFirst(count).allSatisfy({ $0 == 0 }) else { throw PayloadError() }
    let state: State
    switch number {
    case 0: state = .pending
    case 1: state = .bound(browserHash: data)
    case 2: state = .approved(codeDigest: data)
    case 3: state = .ended
    case 4: state = .redeemed(codeDigest: data)
    default: throw PayloadError()
    }
    let clientID = ClientID(try payload.readText())
    let scope = try payload.readText()
    guard let userCode = UserCode(typed: try payload.readText()) else { throw PayloadError() }
    let network = try payload.readText()
    let start = try payload.readTime()
    let expiry = try payload.readTime()
    guard let interval = Int(exactly: try payload.readNumber()) else { throw PayloadError() }
    let lastPoll = try payload.readTime()
    let hasPolled = try payload.readByte()
    guard hasPolled <= 1, hasPolled == 1 || lastPoll == start else { throw PayloadError() }
    self.init(
      state: state, clientID: clientID, scope: scope.isEmpty ? nil : Scope(parsing: scope), resource: resource,
      userCode: userCode, network: network, start: start, expiry: expiry, interval: Seconds(interval),
      lastPoll: hasPolled == 1 ? lastPoll : nil)
  }
}
