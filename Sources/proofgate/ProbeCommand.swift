import ArgumentParser
import Cryptography
import OAuth
import PolicyFile
import Probe
import Reactor
import TLS
import Time

/// The command `proofgate probe`: finds out how a legacy server behaves.
struct ProbeCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "probe", abstract: "Find out how a legacy server behaves, for its part of the policy.",
      discussion: """
        Sends a limited number of requests to the server and prints what it does, and the `upstream:` block for it. It \
        sends no password and registers nothing. Without a client of the server, many questions stay open; the report \
        names the option that answers each. The secret and codes are never printed.
        """)
  }

  @Argument(help: ArgumentHelp("The URL of the server, with a path if its endpoints are below one.", valueName: "url"))
  var url: String

  @Option(help: ArgumentHelp("The path of the authorization endpoint.", valueName: "path"))
  var authorization: String?

  @Option(help: ArgumentHelp("The path of the token endpoint.", valueName: "path"))
  var token: String?

  @Option(name: .customLong("client-id"), help: ArgumentHelp("A client of the server.", valueName: "id"))
  var clientID: String?

  @Option(
    name: .customLong("client-secret-file"),
    help: ArgumentHelp("The file with the secret of this client.", valueName: "file"))
  var clientSecretFile: String?

  @Option(
    name: .customLong("redirect-uri"), help: ArgumentHelp("A redirect URI of this client.", valueName: "uri"))
  var redirectURI: String?

  @Option(help: ArgumentHelp("The scope of the requests. Default: none.", valueName: "scope"))
  var scope: String?

  @Flag(
    name: .customLong("sign-in"),
    help: "Print a link, read the URL to which the browser is redirected from standard input, and redeem its code.")
  var signsIn = false

  @Option(
    help: ArgumentHelp(
      "Redeem the code of an earlier sign-in: a file with the code or the URL; - is standard input.", valueName: "file")
  )
  var callback: String?

  @Option(
    help: ArgumentHelp(
      "The public URL of the gateway: test the way around it, and the host that the server expects.", valueName: "url"))
  var gateway: String?

  @Option(
    help: ArgumentHelp(
      "PEM file with the authorities of the server's certificate. Default: those of the machine.", valueName: "file"))
  var ca: String?

  @Option(name: .customLong("max-requests"), help: ArgumentHelp("The maximum number of requests.", valueName: "number"))
  var maximumRequests = 120

  @Option(help: ArgumentHelp("The pause between two requests, in milliseconds.", valueName: "time"))
  var pause = 0

  @Option(help: ArgumentHelp("The time for each request, in seconds.", valueName: "time"))
  var timeout = 10

  @Option(
    name: [.short, .long],
    help: ArgumentHelp("Also write a first policy to this file, for its owner only.", valueName: "file"))
  var output: String?

  @Flag(help: "Replace the file of --output.")
  var force = false

  @Flag(help: "Print the report as JSON.")
  var json = false

  func validate() throws {
    for (name, text) in [("url", url), ("--gateway", gateway ?? url)] where ProbeTarget(parsing: text) == nil {
      if text.contains("?") || text.contains("#") {
        throw ValidationError(
          "`\(name)` has a query or a fragment; write it without, and name the endpoints with `--authorization` and "
            + "`--token`")
      }
      throw ValidationError("`\(name)` is not an http or https URL; write for example http://127.0.0.1:9000")
    }
    for (name, path) in [("--authorization", authorization), ("--token", token)] {
      guard let path,
        !path.hasPrefix("/") || path.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7f || "?#\\".utf8.contains($0) })
      else { continue }
      throw ValidationError("`\(name)` is a path at the server, without a query; write for example /oauth/token")
    }
    if clientSecretFile != nil, clientID == nil { throw ValidationError("`--client-secret-file` needs `--client-id`") }
    if signsIn || callback != nil, clientID == nil || redirectURI == nil {
      throw ValidationError("a sign-in needs `--client-id` and `--redirect-uri`")
    }
    if signsIn, callback != nil { throw ValidationError("use either `--sign-in` or `--callback`") }
    if force, output == nil { throw ValidationError("`--force` needs `--output`") }
    for (name, value, range) in [
      ("--max-requests", maximumRequests, 1...1_000), ("--pause", pause, 0...60_000), ("--timeout", timeout, 1...600),
    ] where !range.contains(value) {
      throw ValidationError("`\(name)` must be from \(range.lowerBound) to \(range.upperBound)")
    }
  }

  func run() throws {
    guard let target = ProbeTarget(parsing: url) else { return }
    var options = ProbeOptions(target)
    options.authorization = authorization
    options.token = token
    options.clientID = clientID
    options.redirectURI = redirectURI
    options.scope = scope
    options.gateway = gateway.flatMap { ProbeTarget(parsing: $0)?.origin }
    options.clientSecret = try clientSecretFile.map { Secret(try read($0, "the file of `--client-secret-file`")) }
    let callbackText = try callback.map { Secret(try read($0, "the file of `--callback`")) }
    let job = ProbeJob(
      options: options, gateway: gateway.flatMap { ProbeTarget(parsing: $0) }, signsIn: signsIn, callback: callbackText,
      authorities: try authorities(), authoritiesFile: ca, maximumRequests: maximumRequests,
      limits: ProbeClient.Limits(
        timeout: Milliseconds(timeout * 1_000), pause: Milliseconds(pause),
        userAgent: "proofgate-probe/\(Version.number)"))
    let (output, force, json) = (output, force, json)
    try MainLoop().run { worker in
      await job.run(on: worker) { report in
        do throws(ExitCode) {
          try ProbeOutput(path: output, replaces: force, isJSON: json).write(report)
        } catch {
          return error
        }
        return .success
      }
    }
  }

  private func read(_ path: String, _ name: String) throws(ExitCode) -> String {
    do throws(InputFile.Problem) {
      let text = path == "-" ? InputFile.readStandardInput() : try InputFile.read(path)
      return String(text.prefix { $0 != "\n" && $0 != "\r" && $0 != "\r\n" })
    } catch {
      Console.reportError("\(name) \(error.text)")
      throw error.code
    }
  }

  private func authorities() throws(ExitCode) -> CertificateChain? {
    guard let ca else { return SystemTrustStore.load() }
    do throws(InputFile.Problem) {
      let text = try InputFile.read(ca)
      if let chain = try? CertificateChain(pem: Array(text.utf8)) { return chain }
      throw InputFile.Problem(
        reason: "has no certificate in PEM format", advice: "name one with `-----BEGIN CERTIFICATE-----`",
        code: .policyErrors)
    } catch {
      Console.reportError("the file of `--ca` \(error.text)")
      throw error.code
    }
  }
}
