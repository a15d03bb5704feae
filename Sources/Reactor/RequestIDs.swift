import CLinux

/// The ids that the gateway makes for the requests of one worker. All lines of the logs about the same request have the
/// same id.
///
/// An id is a keyed hash of the worker and of the sequence number of the request in that worker, so it does not reveal
/// the number of requests. An id is computed only when a line is logged, or when the process dies: the handler of a fatal
/// signal computes it from the number. Every other request costs only the increment of the sequence number. No
/// protection depends on the ids.
public struct RequestIDs: Sendable {
  /// The secret of a process, two random words.
  public struct Key: Sendable {
    fileprivate let first = UInt64.random(in: .min ... .max)
    fileprivate let second = UInt64.random(in: .min ... .max)

    /// Creates a random key.
    public init() {}
  }

  let source: cl_request_ids

  /// - Parameter space: The number of the worker; no other worker with the same key has it.
  public init(_ key: Key, space: Int) {
    source = cl_request_ids(first_key: key.first, second_key: key.second, space: UInt64(truncatingIfNeeded: space))
  }

  /// Returns the id of the request with this sequence number: 127 bits in base64url. It begins with a letter, so that no
  /// command takes it for an option.
  public func id(_ number: UInt64) -> String {
    let length = Int(CL_REQUEST_ID_LENGTH)
    return unsafe RequestIDs.text(capacity: length) { text in
      var source = source
      unsafe cl_request_id(&source, number, text)
      return length
    }
  }

  /// Returns 24 bytes for the request with this sequence number that do not reveal its id.
  public func traceBytes(_ number: UInt64) -> [UInt8] {
    var (source, bytes) = (source, [UInt8]())
    bytes.reserveCapacity(24)
    for index: UInt64 in 2..<5 {
      let word = unsafe cl_request_word(&source, number, index)
      for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    return bytes
  }

  /// Returns the ASCII text that `write` stores; `write` returns its length.
  static func text(capacity: Int, _ write: (UnsafeMutablePointer<CChar>) -> Int) -> String {
    unsafe String(unsafeUninitializedCapacity: capacity) { bytes in
      guard let base = bytes.baseAddress else { return 0 }
      return unsafe base.withMemoryRebound(to: CChar.self, capacity: capacity) { unsafe write($0) }
    }
  }
}

/// The request on which the current task works. The line about a crash has its id. The number of the request costs a few
/// instructions for each request and each wait; the id is computed only by the handler of the signal.
extension Poller {
  /// Begins a request of the current task.
  ///
  /// - Parameters:
  ///   - number: The sequence number of the request in the worker.
  ///   - proxyID: The id that a trusted proxy chose, at most 128 bytes; `nil` for the id of `identifyRequests`.
  public func beginRequest(_ number: UInt64, proxyID: String?) {
    loop.currentRequest = number
    guard var proxyID else { return }
    proxyID.withUTF8 { text in unsafe cl_requests_name(loop.requests, text.baseAddress, text.count) }
  }

  /// Ends the request of the current task.
  public func endRequest() {
    loop.currentRequest = 0
  }

  /// Sets the source of the ids of the worker's requests; `nil` if they have none.
  public func identifyRequests(by ids: RequestIDs?) {
    unsafe loop.requests.pointee.has_ids = ids != nil
    if let ids { unsafe loop.requests.pointee.ids = ids.source }
  }

  /// The id of the request of the current task, as the line about a crash would have it; empty if there is none.
  public var currentRequestID: String {
    unsafe RequestIDs.text(capacity: Int(CL_REQUEST_NAME_CAPACITY)) { text in
      unsafe cl_requests_current_id(loop.requests, text)
    }
  }
}
