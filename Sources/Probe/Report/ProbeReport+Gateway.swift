extension ProbeReport {
  /// The findings about the `Host` field; none if the server answers with each host.
  var hostFindings: [Finding] {
    switch observations.host {
    case .publicOnly?:
      [
        .found(
          .gateway, "host", "host", "public",
          "the server refuses the host of its URL in `Host`, and not the public one", .likely,
          advice: "`upstream.host: origin`, the default for an http server (docs/legacy-server.md)")
      ]
    case .upstreamOnly?:
      [
        .found(
          .gateway, "host", "host", "upstream",
          "the server refuses the public host in `Host`, and not that of its URL", .likely,
          advice: "add the public host to those of the server, or set `upstream.host: upstream`; its forms may then "
            + "fail, because browsers send the public host in `Origin` (docs/legacy-server.md)", isWarning: true)
      ]
    case .both?, nil: []
    }
  }

  var gatewayFindings: [Finding] {
    guard let answers = observations.gatewayAnswers else {
      return [
        .open(.gateway, "way_around", "way around the gateway", "needs `--gateway` with the public URL of the gateway")
      ]
    }
    let closing =
      "let the server listen on loopback or a Unix socket next to the gateway, or let only the gateway reach it "
      + "(a firewall, a NetworkPolicy as in deploy/kubernetes.yaml)"
    var findings: [Finding] = [
      answers
        ? .found(.gateway, "gateway", "the gateway", "answers", "answers")
        : .found(
          .gateway, "gateway", "the gateway", "missing", "no Proofgate answers at this URL", .likely,
          advice: "start the gateway first, or correct `--gateway`", isWarning: true)
    ]
    if let url = observations.wayAround {
      findings.append(
        .found(
          .gateway, "way_around", "way around the gateway", "open",
          "the server answers at `\(url)`, the name of the gateway with the port of the server", advice: closing,
          isWarning: true))
      return findings
    }
    switch observations.network {
    case .loopback?:
      findings.append(
        .found(
          .gateway, "way_around", "way around the gateway", "loopback",
          observations.triedWayAround
            ? "the server was reached on loopback, and not at the name of the gateway with its port"
            : "the server was reached on loopback", .likely,
          advice: "from another machine, `curl --max-time 5` with the address of this machine and the port must fail"))
    case .private?:
      findings.append(
        .found(
          .gateway, "way_around", "way around the gateway", "private_network",
          "each machine of the private network of this one can probably reach the server", .likely, advice: closing,
          isWarning: true))
    case .public?:
      findings.append(
        .found(
          .gateway, "way_around", "way around the gateway", "public",
          "the server has a public address: each client can reach it without the gateway", .likely, advice: closing,
          isWarning: true))
    case nil:
      findings.append(.open(.gateway, "way_around", "way around the gateway", "the address of the server is not known"))
    }
    return findings
  }
}
