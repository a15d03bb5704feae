internal import ByteText
public import Time

/// The facts about one request for its line in the access log. A connection reuses the object for each of its requests.
///
/// Secrets are removed when a text is stored, so the object never has one. Header fields with credentials are not
/// stored at all.
public final class AccessEntry {
  /// The number of bytes after which a text of the request is cut, so that a request cannot make a line arbitrarily
  /// long.
  public static let maximumTextLength = 4_096

  /// A text of the request.
  public struct Text: Sendable {
    fileprivate let range: Range<Int>
  }

  /// The maximum memory for texts that an entry keeps for its next request, in bytes: enough for most requests.
  private static let keptMemory = 1_024

  /// True between `begin` and `end`.
  public private(set) var isOpen = false
  /// The texts, one after the other.
  private var bytes: [UInt8] = []
  /// The memory of the texts, in bytes.
  public var memory: Int { bytes.capacity }

  /// The method; `nil` if the head of the request could not be read.
  public private(set) var method: Text?
  /// The path, in which the values of path parameters that may be secrets are replaced.
  public private(set) var path: Text?
  /// The query without its secrets; `nil` without a question mark.
  public private(set) var query: Text?
  /// The host that the client used.
  public private(set) var host: Text?
  /// The `Referer` without user information and without the values in its query.
  public private(set) var referer: Text?
  /// The `User-Agent`.
  public private(set) var userAgent: Text?
  /// The id of the trace (W3C Trace Context).
  public private(set) var trace: Text?

  /// The address of the client, as the gateway understands it.
  public var peer = ""
  /// The address of the listener.
  public var listener = ""
  /// The protocol of the request, e.g. `HTTP/1.1`.
  public var protocolName = ""
  /// The version of TLS, e.g. `TLSv1.3`; `nil` without TLS at the gateway.
  public var tls: String?
  /// The id of the request.
  public var request: String?
  /// The status of the response, or 499 if the client went away before it began.
  public var status = 0
  /// The reason for an error of the gateway, or for a response that was cut.
  public var reason: String?
  /// The number of bytes that the connection had received up to the end of the request head.
  public var receivedBefore = 0
  /// The bytes of the body of the request, with the framing of chunks.
  public var bytesIn = 0
  /// The bytes of the body of the response that were sent, with the framing of chunks.
  public var bytesOut = 0
  /// The time of the request head, in monotonic nanoseconds.
  public private(set) var began: MonotonicInstant = 0
  /// The time from the request head to the last byte of the response, in nanoseconds.
  public var duration: UInt64 = 0
  /// The address of the server that got the request; `nil` if none did.
  public var upstream: String?
  /// The time from the request head to a new connection to the upstream, in nanoseconds; `nil` if a connection was
  /// reused.
  public private(set) var upstreamConnect: UInt64?
  /// The time from the request head to the head of the upstream's response, in nanoseconds.
  public var upstreamFirstByte: UInt64?

  /// Creates an object without a request.
  public init() {}

  /// Begins a request, and drops the facts about the previous one.
  public func begin(at time: MonotonicInstant) {
    isOpen = true
    began = time
    dropTexts()
    request = nil
    status = 0
    reason = nil
    bytesIn = 0
    bytesOut = 0
    duration = 0
    upstream = nil
    upstreamConnect = nil
    upstreamFirstByte = nil
  }

  /// Stores the time at which a new connection to the upstream was open, in monotonic nanoseconds.
  public func upstreamConnected(at time: MonotonicInstant) { upstreamConnect = (time - began).count }

  /// Ends the request. The texts stay until `dropTexts`.
  public func end() { isOpen = false }

  /// Drops the texts of a request that has ended. Keeps their memory for the next one if it is small.
  public func dropTexts() {
    method = nil
    path = nil
    query = nil
    host = nil
    referer = nil
    userAgent = nil
    trace = nil
    bytes.removeAll(keepingCapacity: memory <= AccessEntry.keptMemory)
  }

  /// Calls `body` with the bytes of a text.
  public func withBytes<R>(of text: Text, _ body: (Span<UInt8>) -> R) -> R {
    let bytes = bytes
    let span = bytes.span
    return body(span.extracting(text.range))
  }

  /// Stores the method.
  public func setMethod(_ text: Span<UInt8>) { method = store(text) }
  /// Stores the host that the client used.
  public func setHost(_ text: Span<UInt8>) { host = store(text) }
  /// Stores the `User-Agent`.
  public func setUserAgent(_ text: Span<UInt8>) { userAgent = store(text) }

  /// Stores the path. The values of path parameters (`;name=value`) that may be secrets are replaced.
  public func setPath(_ text: Span<UInt8>) {
    path = add(text) { SecretRedaction.append(path: $0, to: &$1) }
  }

  /// Stores the query.
  ///
  /// - Parameter isEndpoint: True for an OAuth endpoint. Then all values are replaced except those of parameters that
  ///   are known not to be secrets; otherwise only the values of parameters that may be secrets.
  public func setQuery(_ text: Span<UInt8>, isEndpoint: Bool) {
    query = add(text) { SecretRedaction.append(query: $0, isEndpoint: isEndpoint, to: &$1) }
  }

  /// The length above which a browser sends only the origin as `Referer` (Referrer Policy, section 8.3).
  private static let maximumRefererLength = 4_096

  /// Stores the `Referer`; that of no browser, which is longer, becomes `***`. The search for secrets in it would cost the
  /// gateway more than the rest of the request.
  public func setReferer(_ text: Span<UInt8>) {
    guard text.count <= AccessEntry.maximumRefererLength else {
      referer = store(SecretRedaction.mark.utf8.span)
      return
    }
    referer = add(text) { SecretRedaction.append(referer: $0, to: &$1) }
  }

  /// Stores the id of the trace of a `traceparent` field, if the value has the form of one (W3C Trace Context, section
  /// 3.2).
  public func setTrace(_ parent: Span<UInt8>) {
    guard parent.count >= 55, parent[2] == UInt8(ascii: "-"), parent[35] == UInt8(ascii: "-") else { return }
    let id = parent.extracting(3..<35)
    for index in id.indices where !id[index].isDigit && id[index] &- UInt8(ascii: "a") > 5 { return }
    trace = store(id)
  }

  private func store(_ text: Span<UInt8>) -> Text { add(text) { $1.append(copying: $0) } }

  private func add(_ text: Span<UInt8>, _ append: (Span<UInt8>, inout [UInt8]) -> Void) -> Text {
    let start = bytes.count
    // Cut after the secrets are removed: the end of a text may tell that its beginning is a secret.
    if text.count <= AccessEntry.maximumTextLength {
      append(text, &bytes)
    } else {
      // The connection keeps the memory of `bytes`, so a long text has memory of its own.
      var whole: [UInt8] = []
      append(text, &whole)
      bytes += whole.prefix(AccessEntry.maximumTextLength)
    }
    bytes.removeLast(max(0, bytes.count - start - AccessEntry.maximumTextLength))
    return Text(range: start..<bytes.count)
  }
}
