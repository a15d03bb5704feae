extension Probe {
  /// The network of the server, and the servers at the name of the gateway.
  package struct Surroundings {
    /// The network of the address to which the probe has connected.
    package var network: Observations.Network?
    /// The gateway.
    package var gateway: any ProbeTransport
    /// The name of the gateway with the port of the server; `nil` if that is the gateway itself.
    package var around: (target: ProbeTarget, transport: any ProbeTransport)?

    package init(
      network: Observations.Network?, gateway: any ProbeTransport,
      around: (target: ProbeTarget, transport: any ProbeTransport)?
    ) {
      self.network = network
      self.gateway = gateway
      self.around = around
    }
  }

  /// Tests whether the server can be reached around the gateway.
  package func probeWayAround(_ surroundings: Surroundings) async {
    observations.network = surroundings.network
    let page = ProbeRequest(.get, Probe.gatewayPage)
    let answer = try? await surroundings.gateway.send(page)
    observations.gatewayAnswers = answer.map(Probe.isGatewayPage) ?? false
    guard let (target, transport) = surroundings.around, let path = observations.authorization?.path,
      let expected = observations.unknownClient
    else { return }
    observations.triedWayAround = true
    do throws(ProbeFailure) {
      let answer = try await transport.send(ProbeRequest(.get, path, parameters()))
      let reaction = Reaction(
        .success(answer), redirectURI: ProbeValues.foreignRedirectURI, path: path, origin: target.origin)
      // A firewall or another program on this port reacts differently.
      if reaction == expected { observations.wayAround = target.description }
    } catch {
      // No answer there is the desired result.
    }
  }
}
