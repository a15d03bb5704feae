import Admin
import ArgumentParser
import Reactor
import Time

/// The command `proofgate healthcheck`: asks the admin listener of a running gateway, for images that have no shell.
struct HealthcheckCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "healthcheck", abstract: "Ask a running gateway whether it is healthy.",
      discussion: """
        For the health check of a container: its image has no other program that could ask. The exit code is 0 if the \
        gateway is healthy, and 1 if it is not or does not answer within 5 seconds.
        """)
  }

  @Option(help: ArgumentHelp("The address of the admin listener (`gateway.admin`).", valueName: "address"))
  var admin = "127.0.0.1:9180"

  @Flag(help: "Ask whether the gateway is ready for requests, and not only whether it runs.")
  var ready = false

  /// The time after which an orchestrator may consider the check as failed.
  private static let timeout: Milliseconds = 5_000

  private var address: Address? {
    guard let colon = admin.lastIndex(of: ":"), let port = Int(admin[admin.index(after: colon)...]) else { return nil }
    var host = admin[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    return Address(literal: String(host), port: port)
  }

  func validate() throws {
    guard address == nil else { return }
    throw ValidationError("`\(admin)` is not an address; write an IP address and a port, such as 127.0.0.1:9180")
  }

  func run() throws {
    guard let address else { return }
    let path = ready ? "/readyz" : "/healthz"
    try MainLoop().run { worker in
      await HealthcheckCommand.ask(address, path, on: worker)
    }
  }

  private static func ask(_ address: Address, _ path: String, on worker: isolated Worker) async -> ExitCode {
    let poller = worker.poller
    do throws(HealthRequest.Failure) {
      let answer = try await HealthRequest.send(
        path, to: address, on: poller, until: poller.deadline(after: HealthcheckCommand.timeout))
      Console.writeOutput(answer.body)
      if answer.status == 200 { return .success }
      Console.reportError("the gateway on \(address) answered \(path) with \(answer.status)")
    } catch {
      Console.reportError(
        "the gateway on \(address) does not answer \(path): \(error); does it run, and is this its "
          + "`gateway.admin`? `--admin` names another address")
    }
    return .failure
  }
}
