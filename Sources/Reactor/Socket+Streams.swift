/// The operations of a socket that represents a stream of a multiplexed connection.
extension Socket {
  func receiveFromStream(_ buffer: Buffer) -> Transfer {
    guard let stream, isStreamOpen, !isAborted else { return .failed(.aborted) }
    switch stream.receive(into: buffer) {
    case .wouldBlock:
      readiness.subtract([.readable, .readClosed])
      return unlessBroken(.wouldBlock)
    case .ended: return hasFailed ? .failed(.reset) : .ended
    case .failed(let error): return markBroken(by: error)
    case .moved(let count): return .moved(count)
    }
  }

  func sendToStream(_ buffer: Buffer, _ count: Int) -> Transfer {
    guard let stream, isStreamOpen, !isAborted else { return .failed(.aborted) }
    let result = stream.send(buffer, upTo: count)
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
    if isStreamOpen { stream?.shutdownWrite() }
  }

  func closeStream(isReset: Bool) {
    guard let stream, isStreamOpen else { return }
    isStreamOpen = false
    if observer != nil { observer = nil }
    stream.close(isReset: isReset)
  }
}
