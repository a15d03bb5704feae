import OAuth
import Sealing
import Testing
import Time

/// Values of a typical native app's flow, the most frequent content of sealed values.
enum Samples {
  static func transaction() throws -> AuthorizationTransaction {
    AuthorizationTransaction(
      id: try #require(TransactionID(bytes: Array(1...16))),
      binding: FlowBinding(
        clientID: ClientID("com.example.mail"),
        redirectURI: try RedirectURI(parsing: "com.example.mail:/oauth2redirect"), redirectURIWasSent: true,
        challenge: CodeChallenge(text: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", method: .s256),
        scope: Scope(parsing: "openid profile email offline_access"), upstreamClientID: ClientID("legacy-mail"),
        upstreamRedirectURI: "https://id.example.com/.proofgate/callback"),
      state: "af0ifjsldkj-3c9d2b7e61f04a58", responseMode: .query, expiry: 1_795_000_000,
      browserSecretHash: Array(100..<132))
  }

  static func code() throws -> IssuedCode {
    let transaction = try transaction()
    return IssuedCode(
      transactionID: transaction.id, binding: transaction.binding,
      upstreamCode: Secret("NmU4YjQxZjItOWQ3Yy00ZTVhLWI0ZDEt"), expiry: transaction.expiry,
      epoch: EpochID(rawValue: 0x1234_5678_9abc_def0),
      origin: SignInOrigin(browserSecretHash: transaction.browserSecretHash, network: 0xc0_00_02))
  }

  static func refreshGrant() throws -> RefreshGrant {
    let transaction = try transaction()
    return RefreshGrant(
      family: transaction.id, generation: 3, epoch: EpochID(rawValue: 0x1234_5678_9abc_def0),
      binding: transaction.binding.client, upstreamRefreshToken: Secret("tGzv3JOkF0XG5Qx2TlKWIA"),
      issuedAt: 1_795_000_000)
  }

  static func sealer() -> Sealer {
    Sealer(keyRing: .ephemeral(now: 1_795_000_000), issuer: "https://id.example.com")
  }
}
