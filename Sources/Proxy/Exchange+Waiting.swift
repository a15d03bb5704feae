import Reactor

/// The waits of an exchange, and the decision after each whether it must end.
extension Exchange {
  /// The events that one wait is for.
  struct Interest {
    // A broken upstream is of interest only once more is to be read.
    var ofClient: Readiness
    var ofUpstream: Readiness = []
    /// When the lack of any progress is a failure.
    let deadline: Deadline
    /// When the wait ends at the latest.
    var end: Deadline
    /// True if nothing but the client is waited for, since when.
    var isPaced = false
    let began: UInt64
  }

  func interest() -> Interest {
    let blockedUp = !toUpstream.isEmpty || upload.direct > 0
    let blockedDown = !toClient.isEmpty || (download?.direct ?? 0) > 0
    let timeout = worker.settings.configuration.bodyTimeout
    // What a switched protocol does in its time is its own affair.
    if isTunnel { stall.end() } else { stall.note(isBlocked: blockedDown, now: poller.now, taken: taken) }
    var deadline = uploadEnded && download == nil ? answerDeadline() : poller.deadline(after: timeout)
    if stall.isRunning { deadline = blockedDown ? stall.deadline(timeout) : min(deadline, stall.deadline(timeout)) }
    var interest = Interest(ofClient: endOfClient, deadline: deadline, end: deadline, began: poller.now)
    if !uploadEnded {
      if blockedUp { interest.ofUpstream.insert(.writable) } else { interest.ofClient.insert(.readable) }
    }
    if blockedDown { interest.ofClient.insert(.writable) } else { interest.ofUpstream.insert(.readable) }
    guard !isTunnel else { return interest }
    interest.end = min(deadline, requestDeadline, stall.nextLook(timeout, now: poller.now))
    guard blockedDown || !uploadEnded && !blockedUp && download == nil else { return interest }
    let limits = worker.settings.configuration.limits
    interest.isPaced = limits.minimumRate > 0
    if interest.isPaced {
      pace.begin(moved: taken)
      interest.end = min(interest.end, poller.deadline(after: pace.left(limits)))
    }
    return interest
  }

  /// Throws if a wait has shown that the exchange must end.
  func judge(_ wake: Wake, _ interest: Interest) throws(Failure) {
    let limits = worker.settings.configuration.limits
    if interest.isPaced, !pace.keeps(limits, waited: poller.now - interest.began, moved: taken) {
      throw .tooSlow
    }
    guard wake == .timedOut else { return }
    let now = Deadline(milliseconds: poller.now)
    if !isTunnel, requestDeadline <= now { throw .tooLong }
    let timeout = worker.settings.configuration.bodyTimeout
    if stall.deadline(timeout) <= now {
      if stall.isOver(timeout, now: poller.now, taken: taken) { throw .clientTimeout }
      return
    }
    if interest.deadline <= now { throw timeoutFailure() }
  }

  /// Bytes that the client has given and taken, over this connection's life. What the kernel holds for it, it has not taken.
  private func taken() -> Int { uploaded + server.socket.acknowledged }

  private func answerDeadline() -> Deadline {
    if let responseDeadline { return responseDeadline }
    let deadline = poller.deadline(after: worker.settings.configuration.responseTimeout)
    responseDeadline = deadline
    return deadline
  }

  private func timeoutFailure() -> Failure {
    let waitsForClient = !uploadEnded && toUpstream.isEmpty && upload.direct == 0
    return waitsForClient && download == nil ? .clientTimeout : .upstream(.responseTimeout)
  }
}
