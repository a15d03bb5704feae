/// The operations of a socket that represents a stream of a multiplexed connection.
extension Socket {
  /// Calls `body` with the transport of the open stream, without counting references. Returns `nil` if the socket is
  /// closed.
  @inline(__always)
  @discardableResult
  private func withStream<R>(_ body: (StreamTransport) -> R) -> R? {
    guard let stream = unsafe stream, isStreamOpen else { return nil }
    // Sound: `retainedStream` keeps the transport.
    return unsafe stream._withUnsafeGuaranteedRef(body)
  }

  func receiveFromStream(_ buffer: Buffer) -> Transfer {
    guard !isAborted, let result = withStream({ $0.receive(into: buffer) }) else { return .failed(.aborted) }
    switch result {
    case .wouldBlock:
      readiness.subtract([.readable, .readClosed])
      return unlessBroken(.wouldBlock)
    case .ended: return hasFailed ? .failed(.reset) : .ended
    case .failed(let error): return markBroken(by: error)
    case .moved(let count): return .moved(count)
    }
  }

  func sendToStream(_ buffer: Buffer, _ count: Int) -> Transfer {
    guard !isAborted, let result = withStream({ $0.send(buffer, upTo: count) }) else { return .failed(.aborted) }
    if case .moved(let sent) = result { written += sent }
    if result != .moved(count) { readiness.remove(.writable) }
    if case .failed(let error) = result { return markBroken(by: error) }
    return unlessBroken(result)
  }

  func sendToStream(_ head: Buffer, then body: Buffer, _ count: Int) -> Transfer {
    let headCount = head.count
    let first = sendToStream(head, headCount)
    guard count > 0, first == .moved(headCount) else { return first }
    switch sendToStream(body, count) {
    case .moved(let second): return .moved(headCount + second)
    case .wouldBlock, .ended, .failed: return first
    }
  }

  func shutdownStreamWrite() {
    withStream { $0.shutdownWrite() }
  }

  func closeStream(isReset: Bool) {
    withStream { stream in
      isStreamOpen = false
      if observer != nil { observer = nil }
      stream.close(isReset: isReset)
    }
  }
}
