public import OAuth
public import Reactor
public import TLS

/// The result of reading a document from the cache or from its server.
public struct DocumentReading: Sendable {
  /// The metadata of the client, or the reason why there are none.
  public let outcome: DocumentCache.Outcome
  /// True if the document was fetched for this result, or would have been without the limit on the number of fetches.
  public let isFetch: Bool
  /// The failure of the fetch. If there is one although `outcome` has metadata, these are from an earlier fetch.
  public let failure: DocumentFailure?

  /// Returns the result if the document was neither found nor fetched.
  public static func unread(_ failure: DocumentFailure) -> DocumentReading {
    DocumentReading(outcome: .failure(failure), isFetch: false, failure: failure)
  }
}

extension DocumentFetcher {
  /// Returns the metadata in the document at a URL, from the cache or after a fetch.
  ///
  /// - Parameters:
  ///   - isListed: True if the policy lists the URL itself, and not only a prefix of it.
  ///   - requester: The IP address of the program that requests the document; `nil` for a program of this machine.
  ///   - cache: The cache that all workers share.
  ///   - poller: The poller of the worker on which this function runs.
  ///   - gate: The limit on the handshakes of that worker.
  public func metadata(
    at url: ClientDocumentURL, isListed: Bool = false, for requester: String? = nil, cache: DocumentCache,
    on poller: Poller, gate: HandshakeGate
  ) async -> DocumentReading {
    switch cache.lookUp(url, isListed: isListed, for: requester, on: poller, now: poller.now) {
    case .found(let outcome):
      let failure = outcome.failure
      var isLimited = false
      if case .unavailable(.rate, _) = failure { isLimited = true }
      return DocumentReading(outcome: outcome, isFetch: isLimited, failure: failure)
    case .wait(let value):
      let outcome =
        await value.wait(on: poller, until: poller.deadline(after: DocumentFetcher.timeout))
        ?? .failure(.unavailable(.timeout, "its server took too long"))
      return DocumentReading(outcome: outcome, isFetch: false, failure: outcome.failure)
    case .fetch:
      let result: Result<FetchedDocument, DocumentFailure>
      var failure: DocumentFailure?
      do throws(DocumentFailure) {
        result = .success(try await fetch(url, on: poller, gate: gate))
      } catch {
        result = .failure(error)
        failure = error
      }
      return DocumentReading(outcome: cache.finish(url, result, now: poller.now), isFetch: true, failure: failure)
    }
  }
}

extension Result {
  /// The failure; `nil` for a success.
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
