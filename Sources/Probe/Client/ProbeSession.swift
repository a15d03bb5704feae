/// The reason why a probe sends no further request.
package enum ProbeStop: Error, Equatable, Sendable, CustomStringConvertible {
  /// The number of requests is reached.
  case limit(Int)
  /// The server asks for fewer requests (429).
  case tooMany
  /// Several requests in a row had no response.
  case silent(ProbeFailure)

  package var description: String {
    switch self {
    case .limit(let count): "\(count) requests were sent; `--max-requests` allows more"
    case .tooMany: "the server limits the requests (429); wait, and use `--pause`"
    case .silent(let failure): "the server does not answer any more: \(failure)"
    }
  }
}

/// Sends the requests of one probe and counts them.
package final class ProbeSession {
  /// The number of requests without a response after which the probe ends: the server is down or blocks the probe.
  private static let maximumFailures = 3

  private let transport: any ProbeTransport
  private let maximumRequests: Int
  private var failures = 0
  /// The reason why the latest request of those without a usable answer had none; `nil` if all had one.
  package private(set) var failure: ProbeFailure?
  /// The number of requests that were sent.
  package private(set) var sent = 0
  /// The `Host` field of all requests; `nil` for the host of the server's URL.
  var host: String?

  package init(_ transport: any ProbeTransport, maximumRequests: Int) {
    self.transport = transport
    self.maximumRequests = maximumRequests
  }

  /// Sends a request, and returns its response or the reason why there is none. Throws if the probe must end.
  func ask(_ request: ProbeRequest) async throws(ProbeStop) -> Result<ProbeAnswer, ProbeFailure> {
    guard sent < maximumRequests else { throw .limit(maximumRequests) }
    sent += 1
    var request = request
    request.host = host
    let answer: ProbeAnswer
    do throws(ProbeFailure) {
      answer = try await transport.send(request)
    } catch {
      failure = error
      // A server may also close the connection of a request that is too long for it.
      failures = error.isSilence ? failures + 1 : 0
      // Without any response, the first failure is the result.
      if failures == ProbeSession.maximumFailures || sent == 1 { throw .silent(error) }
      return .failure(error)
    }
    failures = 0
    if answer.status == 429 { throw .tooMany }
    return .success(answer)
  }
}
