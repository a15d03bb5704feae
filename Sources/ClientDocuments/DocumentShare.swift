import OAuth
import Reactor
import Time

/// The part of the cache for one server.
struct DocumentShare {
  /// The maximum number of documents. A server has one document for each of its clients.
  static let maximumDocuments = 64
  /// The time between a failed fetch of a document and the next one: 10 seconds. Requests would otherwise use up the limit
  /// of the host during an outage, and the document could not be fetched for up to a minute after its end. Six fetches in a
  /// minute leave room for other documents. The failure itself is not kept, so a corrected document is read at the next
  /// fetch.
  static let retryPause: Milliseconds = 10_000
  /// The time for which a document is used after its lifetime while fetches fail: 24 hours.
  static let staleLifetime: Milliseconds = 86_400_000

  /// The time between two responses without a document after which the last good one is not used any longer: 60 seconds.
  /// One such response may be a mistake, for example while the server is updated.
  static let withdrawalInterval: Milliseconds = 60_000

  private struct Document {
    let metadata: ClientMetadata
    let freshUntil: MonotonicTime
    var lastUse: MonotonicTime
    /// The time of the first response without a document since the last good one; `nil` if there is none.
    var missingSince: MonotonicTime?
    /// True if a sign-in with the document was completed.
    var ledToSignIn: Bool
  }

  private var documents: [String: Document] = [:]
  /// The times of the failed fetches of the last ``retryPause``, by URL. `FetchWindow` limits their number.
  private var failedFetches: [String: MonotonicTime] = [:]
  /// The URLs that are being fetched, with the requests that wait for them.
  private var fetches: [String: [AwaitedValue<DocumentCache.Outcome>]] = [:]
  private var recentFetches = FetchWindow()

  var isFetching: Bool { !fetches.isEmpty }

  /// - Parameter mayFetchUnknown: Returns false if the network of the request has requested too many unknown documents.
  mutating func lookUp(
    _ url: ClientDocumentURL, isListed: Bool = false, now: MonotonicTime, mayFetchUnknown: () -> Bool = { true },
    makeValue: () -> AwaitedValue<DocumentCache.Outcome>
  ) -> DocumentCache.LookUp {
    if let document = documents[url.text], now < document.freshUntil {
      documents[url.text]?.lastUse = now
      return .found(.success(document.metadata))
    }
    let stale = staleDocument(url, now: now)
    if fetches[url.text] != nil {
      if let stale { return .found(stale) }
      let value = makeValue()
      fetches[url.text]?.append(value)
      return .wait(value)
    }
    if let failed = failedFetches[url.text], now < failed + DocumentShare.retryPause {
      return .found(stale ?? .failure(.unavailable(.rate, "its last fetch failed a moment ago")))
    }
    let documentClass: FetchWindow.DocumentClass =
      isListed ? .listed : documents[url.text]?.ledToSignIn == true ? .known : .unknown
    guard documentClass != .unknown || mayFetchUnknown() else {
      return .found(stale ?? .failure(.unavailable(.rate, "too many documents were requested from this network")))
    }
    guard recentFetches.take(documentClass, now: now) else {
      return .found(stale ?? .failure(.unavailable(.rate, "too many documents of its host were requested")))
    }
    fetches[url.text] = []
    return .fetch
  }

  /// Returns the last good document if it may be used while no newer one can be fetched.
  private func staleDocument(_ url: ClientDocumentURL, now: MonotonicTime) -> DocumentCache.Outcome? {
    guard let document = documents[url.text], now < document.freshUntil + DocumentShare.staleLifetime else {
      return nil
    }
    return .success(document.metadata)
  }

  mutating func finish(
    _ url: ClientDocumentURL, _ result: Result<FetchedDocument, DocumentFailure>, now: MonotonicTime
  ) -> (DocumentCache.Outcome, [AwaitedValue<DocumentCache.Outcome>]) {
    let waiting = fetches.removeValue(forKey: url.text) ?? []
    switch result {
    case .success(let fetched):
      let ledToSignIn = documents[url.text]?.ledToSignIn ?? false
      if documents[url.text] == nil, documents.count >= DocumentShare.maximumDocuments { evictDocument() }
      documents[url.text] = Document(
        metadata: fetched.metadata, freshUntil: now + Milliseconds(fetched.lifetime), lastUse: now,
        ledToSignIn: ledToSignIn)
      failedFetches[url.text] = nil
      return (.success(fetched.metadata), waiting)
    case .failure(let failure):
      if failure.isMissing { recordMissing(url, now: now) }
      failedFetches = failedFetches.filter { now < $0.value + DocumentShare.retryPause }
      failedFetches[url.text] = now
      return (staleDocument(url, now: now) ?? .failure(failure), waiting)
    }
  }

  /// Ends the use of a document that its owner has withdrawn.
  private mutating func recordMissing(_ url: ClientDocumentURL, now: MonotonicTime) {
    guard let since = documents[url.text]?.missingSince else {
      documents[url.text]?.missingSince = now
      return
    }
    if now >= since + DocumentShare.withdrawalInterval { documents[url.text] = nil }
  }

  mutating func recordSignIn(_ url: ClientDocumentURL) {
    documents[url.text]?.ledToSignIn = true
  }

  /// Removes the document that was used least recently, if possible one that led to no sign-in.
  private mutating func evictDocument() {
    let oldest = documents.min { a, b in
      a.value.ledToSignIn == b.value.ledToSignIn ? a.value.lastUse < b.value.lastUse : !a.value.ledToSignIn
    }
    if let oldest { documents[oldest.key] = nil }
  }
}
