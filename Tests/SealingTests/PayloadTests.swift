import ByteText
import Cryptography
import DiceTestSupport
import OAuth
import Testing
import Time

@testable import Sealing

@Suite("Payloads")
struct PayloadTests {
  private let sealer = Samples.sealer()

  @Test("I-request: a transaction opens as it was sealed")
  func transaction() throws {
    let transaction = try Samples.transaction()
    #expect(try sealer.open(AuthorizationTransaction.self, from: sealer.seal(transaction)) == transaction)
  }

  @Test("The metadata of a client document are in the transaction, the code and the refresh token")
  func clientDocument() throws {
    for (name, type) in [("Example", ClientMetadata.ApplicationType.native), (nil, .web)] {
      var transaction = try Samples.transaction()
      transaction.binding.client.document = ClientMetadata(
        name: name, applicationType: type, redirectURIs: [transaction.redirectURI],
        scope: name.flatMap { _ in Scope(parsing: "openid") }, usesRefreshTokens: name != nil)
      transaction.binding.upstreamVerifier = UpstreamVerifier(bytes: Array(0..<32))
      #expect(try sealer.open(AuthorizationTransaction.self, from: sealer.seal(transaction)) == transaction)
      var code = try Samples.code()
      code.binding = transaction.binding
      #expect(try sealer.open(IssuedCode.self, from: sealer.seal(code)).binding == transaction.binding)
      var grant = try Samples.refreshGrant()
      grant.binding = transaction.binding.client
      #expect(try sealer.open(RefreshGrant.self, from: sealer.seal(grant)).binding == grant.binding)
    }
  }

  @Test("I-request: a state and a code name a registered client by the digest of its id, and are short")
  func registeredClient() throws {
    let sample = try Samples.transaction()
    let id = ClientID("pg1." + String(repeating: "A", count: 1_020))
    let uri = try RedirectURI(parsing: "http://127.0.0.1:51004/cb")
    var transaction = sample
    transaction.binding = FlowBinding(
      clientID: id, redirectURI: uri, redirectURIWasSent: true, challenge: sample.challenge, scope: sample.scope,
      upstreamClientID: sample.upstreamClientID, upstreamRedirectURI: sample.upstreamRedirectURI)
    #expect(transaction.clientID == id.shortForm)
    let others = try ["https://app.example/", "com.example.app:/"].map { try RedirectURI(parsing: $0) }
    for (name, scope) in [("Tool", nil), (nil, Scope(parsing: "mail"))] {
      transaction.registration = RegistrationOutline(
        metadata: ClientMetadata(
          name: name, applicationType: .native, redirectURIs: [uri] + others, scope: scope, usesRefreshTokens: true),
        quarter: CalendarQuarter(number: 227))
      let sealed = sealer.seal(transaction)
      #expect(try sealer.open(AuthorizationTransaction.self, from: sealed) == transaction)
      #expect(sealed.utf8.count <= 480)
    }
    var code = try Samples.code()
    code.binding = transaction.binding
    code.binding.client.registration = nil
    let sealed = sealer.seal(code)
    #expect(try sealer.open(IssuedCode.self, from: sealed).binding == code.binding)
    #expect(sealed.utf8.count <= 400)
  }

  @Test("A payload with the text of an issued id or of its short form is refused: each id has one form")
  func issuedIDAsText() throws {
    let id = ClientID("pg1." + String(repeating: "A", count: 126))
    for text in [id.rawValue, id.shortForm.rawValue] {
      var payload = try sealer.open(sealer.seal(try Samples.code()), as: .code)
      let marker: [UInt8] = [16] + Array("com.example.mail".utf8)
      let start = try #require(payload.firstRange(of: marker))
      payload.replaceSubrange(start, with: [UInt8(text.utf8.count % 128 | (text.utf8.count > 127 ? 128 : 0))])
      if text.utf8.count > 127 { payload.insert(1, at: start.lowerBound + 1) }
      payload.insert(contentsOf: Array(text.utf8), at: start.lowerBound + (text.utf8.count > 127 ? 2 : 1))
      let sealed = sealer.seal(payload, for: .code)
      #expect(throws: OpenError.malformed) { try sealer.open(IssuedCode.self, from: sealed) }
    }
  }

  @Test("The record of an access token opens as it was sealed, and the longest one of a client with a document fits")
  func accessTokenRecord() throws {
    let uri = try RedirectURI(parsing: "https://app.example/" + String(repeating: "a", count: 2_000))
    let name = String(repeating: "\u{1f600}", count: ClientMetadata.maximumNameLength)
    let document = ClientMetadata(
      name: name, applicationType: .web, redirectURIs: [uri], scope: Scope(parsing: "a"), usesRefreshTokens: true)
    let holder = AccessTokenHolder(
      clientID: ClientID("https://app.example/" + String(repeating: "c", count: 492)),
      family: try Samples.transaction().id, document: document.outline)
    var record = AccessTokenRecord(
      holder, resource: "https://tools.example.com/" + String(repeating: "r", count: 230), scope: nil,
      issuedAt: 1_795_000_000, expiry: 1_795_003_600)
    record.isShared = true
    let sealed = sealer.seal(record)
    #expect(try sealer.open(AccessTokenRecord.self, from: sealed) == record)
    #expect(sealed.utf8.count <= 2_048)
    record.holder.document = nil
    record.scope = Scope(parsing: "mail read")
    #expect(try sealer.open(AccessTokenRecord.self, from: sealer.seal(record)) == record)
  }

  @Test("A record with several clients and a later end opens as it was sealed")
  func sharedAccessTokenRecord() throws {
    let uri = try RedirectURI(parsing: "http://127.0.0.1/")
    let homepage = try #require(RedirectURI(outlineOfHomepage: "https://Home.example:8443/about#x"))
    let document = ClientMetadata(
      applicationType: .native, redirectURIs: [uri], relatedURIs: [homepage], usesRefreshTokens: true)
    let family = try Samples.transaction().id
    let record = AccessTokenRecord(
      AccessTokenHolder(clientID: ClientID("a"), family: nil),
      otherHolders: [
        AccessTokenHolder(clientID: ClientID("https://app.example/c"), family: family, document: document),
        AccessTokenHolder(clientID: ClientID("b"), family: nil),
      ], resource: nil, scope: nil, issuedAt: 1_795_000_000, expiry: 1_795_003_600, end: 1_795_090_000)
    let opened = try sealer.open(AccessTokenRecord.self, from: sealer.seal(record))
    #expect(opened == record)
    #expect(opened.holders.last?.clientID == ClientID("b"))
    #expect(opened.otherHolders.first?.document?.relatedURIs.map(\.text) == ["https://home.example/"])
  }

  @Test("A record of a version that did not know several clients and a later end opens, and keeps its layout")
  func earlierAccessTokenRecord() throws {
    var payload = PayloadWriter()
    payload.writeByte(1)
    payload.writeByte(1 | 8)
    payload.writeNumber(1_795_000_000)
    payload.writeNumber(1_795_003_600)
    payload.writeText("n1")
    payload.writeText("urn:a")
    let sealed = sealer.seal(payload.bytes, for: .accessToken)
    let record = try sealer.open(AccessTokenRecord.self, from: sealed)
    #expect(record.holder == AccessTokenHolder(clientID: ClientID("n1"), family: nil) && record.otherHolders.isEmpty)
    #expect(record.isShared && record.expiry == 1_795_003_600 && record.end == record.expiry)
    #expect(try sealer.open(sealer.seal(record), as: .accessToken) == payload.bytes)
  }

  @Test("A record with an end that is not after its expiry, or with too many clients, is refused")
  func malformedAccessTokenRecord() throws {
    for (flags, end, count) in [(64, 1_795_003_600, 1), (128, 0, 0), (128, 0, 16)] as [(UInt8, UInt64, UInt8)] {
      var payload = PayloadWriter()
      payload.writeByte(1)
      payload.writeByte(flags)
      payload.writeNumber(1_795_000_000)
      payload.writeNumber(1_795_003_600)
      payload.writeText("n1")
      if end > 0 { payload.writeNumber(end) }
      if flags == 128 {
        payload.writeByte(count)
        for _ in 0..<count {
          payload.writeByte(0)
          payload.writeText("n2")
        }
      }
      let sealed = sealer.seal(payload.bytes, for: .accessToken)
      #expect(throws: OpenError.malformed) { try sealer.open(AccessTokenRecord.self, from: sealed) }
    }
  }

  @Test("I-request: every optional part of a transaction may be absent or unusual")
  func sparseTransaction() throws {
    var transaction = try Samples.transaction()
    transaction.redirectURIWasSent = false
    transaction.state = nil
    transaction.scope = nil
    transaction.challenge = nil
    transaction.responseMode = .formPost
    transaction.upstreamClientID = transaction.clientID
    transaction.upstreamRedirectURI = transaction.redirectURI.text
    #expect(try sealer.open(AuthorizationTransaction.self, from: sealer.seal(transaction)) == transaction)

    transaction.upstreamVerifier = UpstreamVerifier(bytes: Array(0..<32))
    #expect(transaction.upstreamVerifier != nil)
    #expect(try sealer.open(AuthorizationTransaction.self, from: sealer.seal(transaction)) == transaction)

    transaction.state = ""
    transaction.responseMode = .fragment
    transaction.browserSecretHash = []
    transaction.expiry = UnixTime(seconds: .max)
    let challenges = [
      CodeChallenge(text: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", method: .plain),
      // Another spelling of a digest, one that is too short, and an empty one: all are kept as written.
      CodeChallenge(text: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cN", method: .s256),
      CodeChallenge(text: "E9Melhoa", method: .s256), CodeChallenge(text: "", method: .s256),
    ]
    for challenge in challenges {
      transaction.challenge = challenge
      #expect(try sealer.open(AuthorizationTransaction.self, from: sealer.seal(transaction)) == transaction)
    }
  }

  @Test("A sealed state tells whether a device waits for the result, and whether the request had further parameters")
  func deviceTransaction() throws {
    var transaction = try Samples.transaction()
    for mode in ResponseMode.allCases {
      for isDeviceFlow in [false, true] {
        transaction.responseMode = mode
        transaction.isDeviceFlow = isDeviceFlow
        transaction.hasFurtherParameters = false
        #expect(try sealer.open(AuthorizationTransaction.self, from: sealer.seal(transaction)) == transaction)
        transaction.hasFurtherParameters = true
        #expect(try sealer.open(AuthorizationTransaction.self, from: sealer.seal(transaction)) == transaction)
      }
    }
  }

  @Test("A device code and the record of its flow open as they were sealed, in every state")
  func deviceFlow() throws {
    let id = try Samples.transaction().id
    let code = DeviceCode(flow: id, clientID: ClientID("tv"), expiry: 1_795_000_600)
    #expect(try sealer.open(DeviceCode.self, from: sealer.seal(code)) == code)
    for scope in [nil, Scope(parsing: "read mail")] {
      var forwarded = code
      forwarded.upstream = UpstreamDeviceCode(
        code: Secret("upstream-device-code"), upstreamClientID: ClientID("legacy"), scope: scope,
        epoch: EpochID(rawValue: 7))
      #expect(forwarded.upstream != nil)
      #expect(try sealer.open(DeviceCode.self, from: sealer.seal(forwarded)) == forwarded)
      forwarded.resource = "https://api.example.com/"
      #expect(try sealer.open(DeviceCode.self, from: sealer.seal(forwarded)) == forwarded)
      forwarded.upstream = nil
      #expect(try sealer.open(DeviceCode.self, from: sealer.seal(forwarded)) == forwarded)
    }
    var flow = DeviceFlow(
      clientID: ClientID("tv"), scope: Scope(parsing: "read mail"), userCode: try #require(UserCode(typed: "WDJBMJHT")),
      network: "192.0.2.0/24", start: 1_795_000_000, expiry: 1_795_000_600)
    let states: [DeviceFlow.State] = [
      .pending, .bound(browserHash: Array(0..<32)), .approved(codeDigest: Array(0..<16)), .ended,
      .redeemed(codeDigest: Array(0..<16)), .redeemed(codeDigest: []),
    ]
    for state in states {
      flow.state = state
      _ = flow.recordPoll(at: 1_795_000_100)
      for resource in [nil, "https://api.example.com/"] {
        flow.resource = resource
        #expect(try sealer.open(DeviceFlow.self, from: sealer.seal(flow)) == flow)
      }
    }
    #expect(throws: OpenError.self) { try sealer.open(DeviceCode.self, from: sealer.seal(flow)) }
    #expect(throws: OpenError.self) { try sealer.open(DeviceFlow.self, from: sealer.seal(code)) }
  }

  @Test("I-token: an issued code opens as it was sealed, including the upstream code")
  func code() throws {
    let code = try Samples.code()
    let opened = try sealer.open(IssuedCode.self, from: sealer.seal(code))
    #expect(opened.upstreamCode.reveal() == code.upstreamCode.reveal())
    #expect(opened.transactionID == code.transactionID)
    #expect(opened.clientID == code.clientID)
    #expect(opened.redirectURI == code.redirectURI)
    #expect(opened.redirectURIWasSent == code.redirectURIWasSent)
    #expect(opened.challenge == code.challenge)
    #expect(opened.scope == code.scope)
    #expect(opened.upstreamClientID == code.upstreamClientID)
    #expect(opened.upstreamRedirectURI == code.upstreamRedirectURI)
    #expect(opened.expiry == code.expiry)
    #expect(opened.epoch == code.epoch)
    #expect(opened.upstreamVerifier == nil)
    var bound = code
    bound.upstreamVerifier = UpstreamVerifier(bytes: Array(0..<32))
    #expect(bound.upstreamVerifier != nil)
    #expect(try sealer.open(IssuedCode.self, from: sealer.seal(bound)).upstreamVerifier == bound.upstreamVerifier)
  }

  @Test("I-request: a sealed state and a sealed code do not contain the gateway's verifier")
  func verifierIsHidden() throws {
    var transaction = try Samples.transaction()
    var code = try Samples.code()
    let verifier = try #require(UpstreamVerifier(bytes: randomBytes(UpstreamVerifier.byteCount)))
    transaction.upstreamVerifier = verifier
    code.upstreamVerifier = verifier
    for text in [sealer.seal(transaction), sealer.seal(code)] {
      #expect(!text.contains(verifier.secret.reveal()))
      #expect(!(try #require(Base64URL.decode(text))).contains(verifier.bytes))
      // With the verifier, too, a state is much shorter than the limits of legacy servers.
      #expect(text.utf8.count <= 450)
    }
  }

  @Test("I-credentials: a refresh grant opens as it was sealed, bound to its client")
  func refreshGrant() throws {
    let grant = try Samples.refreshGrant()
    let opened = try sealer.open(RefreshGrant.self, from: sealer.seal(grant))
    #expect(opened.upstreamRefreshToken.reveal() == grant.upstreamRefreshToken.reveal())
    #expect(opened.family == grant.family)
    #expect(opened.generation == grant.generation)
    #expect(opened.clientID == grant.clientID)
    #expect(opened.scope == grant.scope)
    #expect(opened.upstreamClientID == grant.upstreamClientID)
    #expect(opened.issuedAt == grant.issuedAt)
    #expect(opened.epoch == grant.epoch)
  }

  /// The layout of refresh tokens before the epoch was added.
  private struct FirstLayout: Sealable {
    static var purpose: Purpose { .refresh }
    let family: TransactionID

    func write(to payload: inout PayloadWriter) {
      payload.writeByte(1)
      payload.writeByte(2)
      payload.writeBytes(withoutLength: family.bytes)
      for number in [4, 1_790_000_000] as [UInt64] { payload.writeNumber(number) }
      for text in ["com.example.mail", "upstream-refresh"] { payload.writeText(text) }
    }

    init(family: TransactionID) { self.family = family }
    init(from payload: inout PayloadReader) throws(PayloadError) { throw PayloadError() }
  }

  @Test("A refresh token that was sealed without an epoch still opens, with an earlier epoch")
  func firstLayout() throws {
    let family = try Samples.transaction().id
    let opened = try sealer.open(RefreshGrant.self, from: sealer.seal(FirstLayout(family: family)))
    #expect(opened.epoch == .none)
    #expect(opened.family == family)
    #expect(opened.generation == 4)
    #expect(opened.clientID.rawValue == "com.example.mail")
    #expect(opened.upstreamRefreshToken.reveal() == "upstream-refresh")
    #expect(opened.issuedAt == 1_790_000_000)
  }

  @Test("The id of the address is in every sealed value, and values without it have the bytes of earlier versions")
  func addresses() throws {
    let sealer = Samples.sealer()
    func bytes<Value: Sealable>(_ value: Value) throws -> [UInt8] {
      try sealer.open(sealer.seal(value), as: Value.purpose)
    }
    var (transaction, code, grant) = (try Samples.transaction(), try Samples.code(), try Samples.refreshGrant())
    #expect(try bytes(transaction).first == 2)
    #expect(try bytes(code).first == 6)
    #expect(try bytes(grant).first == 2)
    var device = DeviceCode(flow: transaction.id, clientID: ClientID("tv"), expiry: 1_795_000_000)
    device.upstream = UpstreamDeviceCode(
      code: Secret("device-code"), upstreamClientID: ClientID("legacy-tv"), scope: nil, epoch: EpochID(rawValue: 7))
    let without = try [bytes(transaction), bytes(code), bytes(grant), bytes(device)]
    for id: UInt16 in [0, 127, 128, 0xffff] {
      transaction.binding.client.upstreamAddress = id
      code.binding.client.upstreamAddress = id
      grant.binding.upstreamAddress = id
      device.upstream?.upstreamAddress = id
      var readers = try [bytes(transaction), bytes(code), bytes(grant), bytes(device)].map { PayloadReader($0) }
      #expect(try AuthorizationTransaction(from: &readers[0]).binding.client.upstreamAddress == id)
      #expect(try IssuedCode(from: &readers[1]).binding.client.upstreamAddress == id)
      #expect(try RefreshGrant(from: &readers[2]).binding.upstreamAddress == id)
      #expect(try DeviceCode(from: &readers[3]).upstream?.upstreamAddress == id)
      for reader in readers { try reader.finish() }
    }
    grant.binding.upstreamAddress = nil
    for lifetime: Seconds in [60, RefreshGrant.defaultIdleLifetime, 315_360_000] {
      grant.idleLifetime = lifetime
      var reader = PayloadReader(try bytes(grant))
      #expect(try RefreshGrant(from: &reader).idleLifetime == lifetime)
      #expect((try bytes(grant) == without[2]) == (lifetime == RefreshGrant.defaultIdleLifetime))
      try reader.finish()
    }
    var readers = without.map { PayloadReader($0) }
    #expect(try AuthorizationTransaction(from: &readers[0]).binding.client.upstreamAddress == nil)
    #expect(try IssuedCode(from: &readers[1]).binding.client.upstreamAddress == nil)
    #expect(try RefreshGrant(from: &readers[2]).binding.upstreamAddress == nil)
    #expect(try DeviceCode(from: &readers[3]).upstream?.upstreamAddress == nil)
  }

  @Test("A sealed value does not open as another type")
  func types() throws {
    let text = sealer.seal(try Samples.transaction())
    #expect(throws: OpenError.notAuthentic) { try sealer.open(IssuedCode.self, from: text) }
    #expect(throws: OpenError.notAuthentic) { try sealer.open(RefreshGrant.self, from: text) }
  }

  @Test("7636-4.4-no-leak: sealed values show neither the challenge nor the upstream code")
  func noLeak() throws {
    let code = try Samples.code()
    let text = sealer.seal(code)
    let envelope = try #require(Base64URL.decode(text))
    let challenge = try #require(code.challenge).text
    let digest = try #require(Base64URL.decode(challenge))
    for secret in [Array(challenge.utf8), digest, Array(code.upstreamCode.reveal().utf8)] {
      #expect(!envelope.contains(secret))
      #expect(!Array(text.utf8).contains(secret))
    }
  }

  @Test("A typical state is much shorter than the limits of legacy servers")
  func length() throws {
    #expect(sealer.seal(try Samples.transaction()).utf8.count <= 400)
    #expect(sealer.seal(try Samples.code()).utf8.count <= 400)
  }

  @Test("Every prefix, extension or altered flag of an authentic payload is refused")
  func strictness() throws {
    var writer = PayloadWriter()
    try Samples.transaction().write(to: &writer)
    let payload = try sealer.open(sealer.seal(try Samples.transaction()), as: .state)
    for length in 0..<payload.count {
      #expect(throws: OpenError.malformed) { try open(Array(payload.prefix(length))) }
    }
    #expect(throws: OpenError.malformed) { try open(payload + [0]) }
    // Layout, response mode, flags, challenge.
    let mode = 1 + 16 + 5
    for (index, value) in [(0, 3), (mode, 3), (mode + 1, 0xff), (mode + 2, 4)] as [(Int, UInt8)] {
      var changed = payload
      changed[index] = value
      #expect(throws: OpenError.malformed) { try open(changed) }
    }
  }

  @Test("Random payloads are refused or parsed, without a crash")
  func randomPayloads() throws {
    // A crash does not say which payload caused it, so they are the same in each run.
    var generator = SeededGenerator(seed: 3)
    let payload = try sealer.open(sealer.seal(try Samples.transaction()), as: .state)
    for _ in 0..<20_000 {
      var changed = payload
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        changed[Int.random(in: 0..<changed.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      _ = try? open(changed)
      let count = Int.random(in: 0...200, using: &generator)
      _ = try? open(generator.bytes(count))
    }
  }

  @Test(
    "Every number has one encoding and keeps its value",
    arguments: [0, 1, 127, 128, 16_384, UInt64(Int64.max), UInt64.max])
  func numbers(value: UInt64) throws {
    let bytes = Numbers(value: value)
    #expect(try sealer.open(Numbers.self, from: sealer.seal(bytes)).value == value)
  }

  @Test(
    "A number with a surplus byte or of more than 64 bits is refused",
    arguments: [
      [0x80, 0x00], [0xff, 0x00], [0x80], [UInt8](repeating: 0xff, count: 9) + [0x02],
      [UInt8](repeating: 0xff, count: 10) + [0x01], [],
    ] as [[UInt8]])
  func badNumbers(bytes: [UInt8]) {
    #expect(throws: OpenError.malformed) {
      try sealer.open(Numbers.self, from: sealer.seal(bytes, for: Numbers.purpose))
    }
  }

  @Test("Text that is not UTF-8 is refused")
  func invalidText() {
    var reader = PayloadReader([2, 0xc3, 0x28])
    #expect(throws: PayloadError.self) { try reader.readText() }
    var huge = PayloadReader([UInt8](repeating: 0xff, count: 9) + [0x01, 0x41])
    #expect(throws: PayloadError.self) { try huge.readBytes() }
  }

  private func open(_ payload: [UInt8]) throws -> AuthorizationTransaction {
    try sealer.open(AuthorizationTransaction.self, from: sealer.seal(payload, for: .state))
  }
}

/// A payload of one number.
private struct Numbers: Sealable {
  static var purpose: Purpose { .cookie }
  var value: UInt64

  init(value: UInt64) { self.value = value }
  init(from payload: inout PayloadReader) throws(PayloadError) { value = try payload.readNumber() }
  func write(to payload: inout PayloadWriter) { payload.writeNumber(value) }
}
