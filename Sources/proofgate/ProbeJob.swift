import ArgumentParser
import ClientDocuments
import Cryptography
import OAuth
import Policy
import Probe
import Reactor
import TLS

/// One run of `proofgate probe` on a worker.
struct ProbeJob: Sendable {
  let options: ProbeOptions
  let gateway: ProbeTarget?
  let signsIn: Bool
  let callback: Secret?
  let authorities: CertificateChain?
  let authoritiesFile: String?
  let maximumRequests: Int
  let limits: ProbeClient.Limits

  /// Runs the probe, and calls `finish` with the report unless the probe failed.
  func run(on worker: isolated Worker, finish: (ProbeReport) -> ExitCode) async -> ExitCode {
    let poller = worker.poller
    let client: ProbeClient
    do throws(TLSError) {
      client = try ProbeClient(poller, options.target, authorities: authorities, limits: limits)
    } catch {
      Console.reportError("\(options.target): \(error)")
      return .systemFailure
    }
    let probe = Probe(options, ProbeSession(client, maximumRequests: maximumRequests))
    await probe.run()
    if case .silent(let failure)? = probe.stop, probe.session.sent == 1 {
      Console.reportError("\(options.target) cannot be probed: \(failure)")
      return .systemFailure
    }
    if probe.isGateway {
      Console.reportError("\(options.target) is a Proofgate gateway; probe the server behind it (`upstream.url`)")
      return .policyErrors
    }
    if signsIn || callback != nil { reportMissingEndpoint(of: probe) }
    if signsIn {
      await probe.signIn(TerminalPrompt())
    } else if let callback {
      await probe.redeemCallback(callback)
    }
    if let gateway { await probeWayAround(probe, gateway, client, poller) }
    let report = ProbeReport(
      probe, gatewayIssuer: gateway.map { $0.description }, authorities: authoritiesFile)
    guard report.isOAuthServer || probe.stop != nil else {
      let reason = probe.session.failure.map { ". The last request without a usable answer: \($0)" }
      Console.reportError(
        "\(options.target) does not answer like an OAuth server at any of the known paths; name the paths of its manual "
          + "with `--authorization` and `--token`, or the folder of its endpoints in the URL\(reason ?? "")")
      return .policyErrors
    }
    let code = finish(report)
    if case .silent? = probe.stop, code == .success { return .systemFailure }
    return code
  }

  /// Warns of a sign-in for which no endpoint is known, because its steps are left out.
  private func reportMissingEndpoint(of probe: Probe) {
    guard probe.stop == nil else { return }
    if signsIn, probe.observations.authorization == nil {
      Console.warn("no authorization endpoint was found, so there is no sign-in; name it with `--authorization`")
    } else if probe.observations.token == nil {
      Console.warn("no token endpoint was found, so the code cannot be redeemed; name it with `--token`")
    }
  }

  private func probeWayAround(_ probe: Probe, _ gateway: ProbeTarget, _ client: ProbeClient, _ poller: Poller) async {
    let network: Observations.Network? = client.address.map {
      $0.isLoopback ? .loopback : $0.isGloballyReachable ? .public : .private
    }
    let server = options.target.origin
    let around = ProbeTarget(origin: Origin(scheme: server.scheme, host: gateway.origin.host, port: server.port))
    // The same address as that of the server shows nothing, and that of the gateway is the gateway.
    let isOther = around.origin != gateway.origin && around.origin != server && !gateway.origin.isLoopback
    do throws(TLSError) {
      await probe.probeWayAround(
        .init(
          network: network, gateway: try ProbeClient(poller, gateway, authorities: authorities, limits: limits),
          around: isOther
            ? (around, try ProbeClient(poller, around, authorities: authorities, limits: limits)) : nil))
    } catch {
      Console.warn("\(gateway): \(error)")
    }
  }
}

/// Shows links on standard error and reads from standard input.
private struct TerminalPrompt: SignInPrompt {
  func callback(for url: String, purpose: String) async -> Secret? {
    Console.writeLine(
      """

      Sign in with a test user, \(purpose):

        \(url)

      Then copy the whole URL to which the browser is redirected (the page may fail to load) to this line:
      """)
    guard let line = readLine(), !line.isEmpty else { return nil }
    return Secret(line)
  }
}
