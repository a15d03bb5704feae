extension Probe {
  /// The longest `state` that is tried: twice the default of `state_limit`. The requests of an app have less.
  package static let longestState = 8_192
  /// The precision of the limit of the URL, in bytes. Nothing is configured by it.
  private static let urlStep = 256
  /// The shortest `state_limit` of a policy.
  private static let shortestState = 14

  /// Searches for the longest `state` and URL by bisection. A server that looks at `state` only after the login can be
  /// tested by a sign-in only.
  func probeLimits() async throws(ProbeStop) {
    guard let path = observations.authorization?.path,
      let baseline = observations.knownClient ?? observations.unknownClient
    else { return }
    let client = baseline == observations.unknownClient ? nil : options.clientID
    let redirectURI = client == nil ? ProbeValues.foreignRedirectURI : options.redirectURI ?? ""
    func accepts(_ parameters: [ProbeRequest.Parameter]) async throws(ProbeStop) -> Bool {
      try await authorize(path, parameters, redirectURI: redirectURI) == baseline
    }
    func acceptsState(_ length: Int) async throws(ProbeStop) -> Bool {
      try await accepts(parameters(client: client, redirectURI: redirectURI, state: ProbeValues.text(length)))
    }
    func acceptsPadding(_ length: Int) async throws(ProbeStop) -> Bool {
      let padding = [ProbeRequest.Parameter(ProbeValues.unknownParameter, ProbeValues.text(length))]
      return try await accepts(parameters(client: client, redirectURI: redirectURI, adding: padding))
    }
    // Without a client, the server may have refused the request before it looked at `state`.
    let showsState = observations.validation == .beforeLogin && client != nil
    var longest = Probe.longestState
    if try await !acceptsState(longest), try await !acceptsPadding(longest) {
      guard try await acceptsPadding(Probe.urlStep) else { return }
      var (low, high) = (Probe.urlStep, longest)
      while high - low > Probe.urlStep {
        let middle = (low + high) / 2
        if try await acceptsPadding(middle) { low = middle } else { high = middle }
      }
      observations.urlLimit = .exactly(low)
      longest = low
    } else {
      observations.urlLimit = .atLeast(longest)
    }
    if try await acceptsState(longest) {
      if showsState { observations.stateLimit = .atLeast(longest) }
      return
    }
    guard try await acceptsState(Probe.shortestState) else {
      observations.stateLimit = .exactly(0)
      return
    }
    var (low, high) = (Probe.shortestState, longest)
    while high - low > 1 {
      let middle = (low + high) / 2
      if try await acceptsState(middle) { low = middle } else { high = middle }
    }
    observations.stateLimit = .exactly(low)
  }
}
