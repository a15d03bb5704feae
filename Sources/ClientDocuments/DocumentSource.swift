public import OAuth
public import Reactor
public import TLS

extension DocumentFetcher {
  /// Returns the metadata in the document at a URL, from the cache or after a fetch.
  ///
  /// - Parameters:
  ///   - cache: The cache that all workers share.
  ///   - poller: The poller of the worker on which this function runs.
  ///   - gate: The limit on the handshakes of that worker.
  public func metadata(
    at url: ClientDocumentURL, cache: DocumentCache, on poller: Poller, gate: HandshakeGate
  ) async -> DocumentCache.Outcome {
    switch cache.lookUp(url, on: poller, now: poller.now) {
    case .found(let outcome): return outcome
    case .wait(let value):
      let outcome = await value.wait(on: poller, until: poller.deadline(after: DocumentFetcher.timeout))
      return outcome ?? .failure(.unavailable("its server took too long"))
    case .fetch:
      let result: Result<FetchedDocument, DocumentFailure>
      do throws(DocumentFailure) {
        result = .success(try await fetch(url, on: poller, gate: gate))
      } catch {
        result = .failure(error)
      }
      return cache.finish(url, result, now: poller.now)
    }
  }
}
