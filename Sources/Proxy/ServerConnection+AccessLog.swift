import AccessLog
import HTTP
import HTTP1
import Reactor
import Telemetry
import Time

/// The line of a request in the access log, and the messages about failed requests.
extension ServerConnection {
  /// Stores the facts of a request whose head was read, if it gets a line.
  ///
  /// - Parameter isEndpoint: True if the request does not simply pass, so that its query may have secrets.
  @inline(never)
  func begin(
    _ log: AccessChannel, _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ client: ClientFacts,
    _ began: MonotonicInstant, isEndpoint: Bool
  ) {
    guard let entry = beginEntry(log, began, peer: client.peer.address) else { return }
    let format = log.format
    entry.receivedBefore = received &- input.count &+ head.length
    entry.setMethod(bytes.extracting(head.methodRange))
    if head.path.isEmpty {
      entry.setPath(RequestReader.emptyTarget(head).utf8.span)
    } else {
      entry.setPath(bytes.extracting(head.path))
    }
    if let query = head.query { entry.setQuery(bytes.extracting(query), isEndpoint: isEndpoint) }
    if format.has(.host), let host = head.host { entry.setHost(bytes.extracting(host)) }
    entry.protocolName = identity.isHTTP2 ? "HTTP/2.0" : head.minorVersion == 0 ? "HTTP/1.0" : "HTTP/1.1"
    // The response to such a call has the status 200.
    if identity.isHTTP2, !isEndpoint, fields.has(.contentType), GRPC.isCall(bytes, fields) {
      entry.reason = GRPC.refusal.description
    }
    for field in fields where field.known == .common || field.known == .endToEnd {
      switch field.name.count {
      case 7 where HeadIndex.equalIgnoringCase(bytes, field.name, "referer"):
        entry.setReferer(bytes.extracting(field.value))
      case 10 where HeadIndex.equalIgnoringCase(bytes, field.name, "user-agent"):
        entry.setUserAgent(bytes.extracting(field.value))
      case 11 where format.has(.trace) && HeadIndex.equalIgnoringCase(bytes, field.name, "traceparent"):
        entry.setTrace(bytes.extracting(field.value))
      default: continue
      }
    }
    chargeEntry(entry)
  }

  /// Counts the memory of the texts while the request is in progress. It is bounded (`AccessEntry.maximumTextLength`), so
  /// it is counted even if there is no room.
  private func chargeEntry(_ entry: AccessEntry) {
    buffers.charge(entry.memory - entryCharge)
    entryCharge = entry.memory
  }

  /// Ends the charge of the texts.
  func releaseEntryCharge() {
    guard entryCharge > 0 else { return }
    buffers.release(entryCharge)
    entryCharge = 0
  }

  /// Stores the facts of a request that could not be read, or of a connection that was refused.
  func beginUnreadEntry(_ log: AccessChannel) {
    let entry = beginEntry(log, SystemClock.monotonicInstant(), peer: peer.host)
    entry?.receivedBefore = received
    entry?.protocolName = identity.isHTTP2 ? "HTTP/2.0" : ""
  }

  private func beginEntry(_ log: AccessChannel, _ began: MonotonicInstant, peer: String) -> AccessEntry? {
    guard log.format.includes(request: requestNumber) else { return nil }
    let entry = accessEntry ?? AccessEntry()
    accessEntry = entry
    entry.begin(at: began)
    entry.peer = peer
    let names = settings.configuration.listenerNames
    entry.listener = Int(listener) < names.count ? names[Int(listener)] : ""
    if log.format.has(.tls) { entry.tls = tlsVersion }
    return entry
  }

  /// Appends the line of the request that has ended.
  @inline(never)
  func end(_ entry: AccessEntry) {
    guard entry.isOpen else { return }
    entry.end()
    defer {
      releaseEntryCharge()
      entry.dropTexts()
    }
    guard let log = worker.accessLog else { return }
    if entry.status == 0 {
      entry.status = exchange?.status ?? 0
      entry.bytesOut = max(0, exchange?.sent ?? 0)
    }
    // The client went away before the response began. nginx shows it in this way too.
    if entry.status == 0 { entry.status = 499 }
    entry.bytesIn = max(0, received &- input.count &- entry.receivedBefore)
    entry.duration = (SystemClock.monotonicInstant() - entry.began).count
    if log.format.has(.request) { entry.request = worker.handler.requestID(reference) }
    log.append(entry)
  }

  // MARK: Failures

  /// Returns the response to a request that failed, and informs the operator.
  ///
  /// - Parameter limit: The limit that was reached, if any.
  func failure(
    _ failure: ProxyFailure, _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, limit: LimitKind? = nil
  ) -> Response {
    let client = identity.facts(bytes, fields, requestNumber: requestNumber)
    return self.failure(
      failure, as: ErrorForm(bytes, fields), limit: limit ?? failure.limit(at: .afterHead),
      FailedRequest(head, bytes, peer: client.peer.address))
  }

  /// Returns the response to a request that failed, and informs the operator.
  ///
  /// - Parameter limit: The limit that was reached, if any.
  func failure(
    _ failure: ProxyFailure, as form: ErrorForm, limit: LimitKind?, _ request: FailedRequest
  ) -> Response {
    let response = worker.handler.failure(failure, as: form, request: reference)
    report(failure.reason(limit), status: response.status, request)
    return response
  }

  /// Informs the operator that the handler's own request failed. The handler decides on the response.
  func reportUpstreamFailure(_ failure: UpstreamFailure, _ limit: LimitKind?) {
    let request = interceptedRequest.map { FailedRequest($0) } ?? FailedRequest(peer: peer.host)
    report(ProxyFailure.upstream(failure).reason(limit), status: nil, request)
  }

  /// Informs the operator of a failed request.
  ///
  /// - Parameter status: The status of the response; 0 if the response was cut, `nil` if the handler decides on it.
  func report(_ reason: String, status: Int?, _ request: FailedRequest) {
    accessEntry?.reason = reason
    worker.handler.failed(FailureReport(status: status, reason: reason, reference: reference, request: request))
  }
}
