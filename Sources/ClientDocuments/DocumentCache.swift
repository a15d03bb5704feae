public import OAuth
public import Reactor
internal import Synchronization
public import Time

/// The documents that were fetched, and the recent failures. All workers share one cache, and it outlives a reload.
///
/// Each server has a share of its own, so that URLs of one server cannot evict documents of another. The policy limits
/// the number of servers.
public final class DocumentCache: Sendable {
  /// The metadata of the client, or the reason why there are none.
  public typealias Outcome = Result<ClientMetadata, DocumentFailure>

  /// The result of a look-up.
  public enum LookUp: Sendable {
    /// The document or a recent failure was found.
    case found(Outcome)
    /// The caller must fetch the document and then call `finish`.
    case fetch
    /// Another request fetches the document; its result arrives here.
    case wait(AwaitedValue<Outcome>)
  }

  /// The maximum number of servers. Policies name fewer.
  private static let maximumShares = 128

  private let shares = Mutex<[String: DocumentShare]>([:])

  /// Creates an empty cache.
  public init() {}

  /// Returns the document at the URL, or what the caller has to do to get it.
  ///
  /// - Parameters:
  ///   - isListed: True if the policy lists the URL itself, and not only a prefix of it.
  ///   - poller: The poller of the worker on which the caller may wait.
  ///   - now: The current time.
  public func lookUp(
    _ url: ClientDocumentURL, isListed: Bool = false, on poller: Poller, now: MonotonicTime
  ) -> LookUp {
    shares.withLock { shares in
      if shares[url.authority] == nil, shares.count >= DocumentCache.maximumShares,
        let unused = shares.first(where: { !$0.value.isFetching })?.key
      {
        shares[unused] = nil
      }
      return shares[url.authority, default: DocumentShare(now: now)].lookUp(url, isListed: isListed, now: now) {
        AwaitedValue<Outcome>(on: poller)
      }
    }
  }

  /// Records the result of a fetch, and passes it to the requests that wait for it. Returns the result that the caller
  /// should use: after a failure, this is the last good document if it is not too old.
  public func finish(
    _ url: ClientDocumentURL, _ result: Result<FetchedDocument, DocumentFailure>, now: MonotonicTime
  ) -> Outcome {
    let (outcome, waiting) = shares.withLock { shares in
      shares[url.authority, default: DocumentShare(now: now)].finish(url, result, now: now)
    }
    for value in waiting { value.deliver(outcome) }
    return outcome
  }

  /// Records that a sign-in with this document was completed, so that other documents are evicted first.
  public func recordSignIn(_ url: ClientDocumentURL) {
    shares.withLock { $0[url.authority]?.recordSignIn(url) }
  }
}
