public import OAuth
public import Reactor
internal import Stores
internal import Synchronization
public import Time

/// The documents that were fetched. All workers share one cache, and it outlives a reload.
///
/// Each server has a share of its own, so that URLs of one server cannot evict documents of another. The policy limits
/// the number of servers.
public final class DocumentCache: Sendable {
  /// The metadata of the client, or the reason why there are none.
  public typealias Outcome = Result<ClientMetadata, DocumentFailure>

  /// The result of a look-up.
  public enum LookUp: Sendable {
    /// The document was found, or may not be fetched now.
    case found(Outcome)
    /// The caller must fetch the document and then call `finish`.
    case fetch
    /// Another request fetches the document; its result arrives here.
    case wait(AwaitedValue<Outcome>)
  }

  /// The maximum number of servers. Policies name fewer.
  private static let maximumShares = 128

  /// The rate at which the programs of one network, /24 or /48, may request documents that have to be fetched, if these
  /// led to no sign-in and the policy lists only a prefix of their URLs. It is lower than the limit of the server's share
  /// (`FetchWindow`), so that no network alone can use that up with invented URLs.
  static let networkRate = TokenBucket.Rate(burst: 2, perMinute: 2)

  private let shares = Mutex<[String: DocumentShare]>([:])
  private let networks = RateLimiter(DocumentCache.networkRate)

  /// Creates an empty cache.
  public init() {}

  /// Returns the document at the URL, or what the caller has to do to get it.
  ///
  /// - Parameters:
  ///   - isListed: True if the policy lists the URL itself, and not only a prefix of it.
  ///   - requester: The IP address of the program that requests the document; `nil` for a program of this machine,
  ///     whose network is not limited.
  ///   - poller: The poller of the worker on which the caller may wait.
  ///   - now: The current time.
  public func lookUp(
    _ url: ClientDocumentURL, isListed: Bool = false, for requester: String? = nil, on poller: Poller,
    now: MonotonicTime
  ) -> LookUp {
    shares.withLock { shares in
      if shares[url.authority] == nil, shares.count >= DocumentCache.maximumShares,
        let unused = shares.first(where: { !$0.value.isFetching })?.key
      {
        shares[unused] = nil
      }
      return shares[url.authority, default: DocumentShare()].lookUp(
        url, isListed: isListed, now: now,
        mayFetchUnknown: { requester.map { networks.take(RateKey(network: $0), now: now) } ?? true },
        makeValue: { AwaitedValue<Outcome>(on: poller) })
    }
  }

  /// Records the result of a fetch, and passes it to the requests that wait for it. Returns the result that the caller
  /// should use: after a failure, this is the last good document if it is not too old.
  public func finish(
    _ url: ClientDocumentURL, _ result: Result<FetchedDocument, DocumentFailure>, now: MonotonicTime
  ) -> Outcome {
    let (outcome, waiting) = shares.withLock { shares in
      shares[url.authority, default: DocumentShare()].finish(url, result, now: now)
    }
    for value in waiting { value.deliver(outcome) }
    return outcome
  }

  /// Records that a sign-in with this document was completed, so that other documents are evicted first.
  public func recordSignIn(_ url: ClientDocumentURL) {
    shares.withLock { $0[url.authority]?.recordSignIn(url) }
  }
}
