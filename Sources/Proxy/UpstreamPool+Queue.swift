import Reactor

/// The requests that wait for a place, and the places that they get.
extension UpstreamPool {
  /// The maximum length of a queue, as a multiple of the worker's part of the maximum number of connections. The last
  /// requests of a longer queue would not be served in time.
  private static let queueFactor = 8
  /// The lowest limit on the length of a queue, for configurations with few connections.
  private static let minimumQueueLimit = 64

  /// Waits in a queue until a connection may be available.
  func waitInQueue(
    _ client: ServerConnection, _ mayUseReserved: Bool, until deadline: Deadline
  ) async throws(UpstreamFailure) {
    let waiter = client.waiter
    let limit = max(
      UpstreamPool.minimumQueueLimit,
      settings.configuration.upstreamConnections / places.workers * UpstreamPool.queueFactor)
    guard (mayUseReserved ? reservedQueue : queue).count < limit else { throw .poolExhausted }
    if mayUseReserved { reservedQueue.append(waiter) } else { queue.append(waiter) }
    places.beginWaiting(isReserved: mayUseReserved)
    let wake = await waiter.wait(client.socket, client.abandonment, until: deadline)
    // Wake-up and timeout may occur in the same turn. Then the waiter is no longer in the queue, and the connection is
    // meant for it.
    let wasWoken = !removeFromQueue(waiter, mayUseReserved)
    if client.isAbandoned {
      if wasWoken { passOnPlace() }
      throw .clientGone(afterSending: false)
    }
    if wake == .timedOut, !wasWoken { throw .poolExhausted }
  }

  /// Removes a waiter from its queue. Returns false if it has already been removed.
  private func removeFromQueue(_ waiter: Waiter, _ mayUseReserved: Bool) -> Bool {
    guard let index = (mayUseReserved ? reservedQueue : queue).firstIndex(where: { $0 === waiter }) else {
      return false
    }
    if mayUseReserved { reservedQueue.remove(at: index) } else { queue.remove(at: index) }
    places.endWaiting(isReserved: mayUseReserved)
    return true
  }

  /// Wakes the intercepted request that has waited longest. If none waits, wakes the passing request that has waited
  /// longest, if passing requests may use a connection now. Returns false if it woke none.
  @discardableResult
  func wakeNext() -> Bool {
    if !reservedQueue.isEmpty {
      places.endWaiting(isReserved: true)
      reservedQueue.removeFirst().resume(.ready)
    } else if !queue.isEmpty, mayUseConnection(mayUseReserved: false) {
      places.endWaiting(isReserved: false)
      queue.removeFirst().resume(.ready)
    } else {
      return false
    }
    return true
  }

  /// Takes a place for a new connection. Returns false if all places are taken, or all that a passing request may use.
  func takePlace(mayUseReserved: Bool) -> Bool {
    let limit = settings.configuration.upstreamConnections
    guard places.takePlace(of: limit, limitInUse: mayUseReserved ? limit : passingLimits.connections) else {
      return false
    }
    open += 1
    return true
  }

  /// Gives the place of a connection back that was closed or could not be established.
  func returnPlace() {
    open -= 1
    places.publish(inUse: inUse)
    places.returnPlace()
  }

  /// Wakes the request that is next, or notifies its worker, because a place is free.
  func passOnPlace() {
    if places.othersWait, let next = places.next(hasConnection: false) {
      next.send()
    } else {
      wakeNext()
    }
  }

  /// Uses the free places for the requests that wait here, and closes idle connections for those of other workers.
  /// Called after a notification by another worker.
  func examinePlaces() {
    places.acknowledge()
    let limit = settings.configuration.upstreamConnections
    // At least one request is woken: it may wait for the number of connections in use, and not for a place.
    var free = max(1, places.freePlaces(of: limit))
    while free > 0, wakeNext() { free -= 1 }
    // A request that did not wait may have taken a place that another worker has freed for one of those that still wait.
    if free == 0, !queue.isEmpty || !reservedQueue.isEmpty { places.notifyIdleWorkers() }
    guard places.othersWait else { return }
    // Free places are not subtracted: they may be those of requests that were woken and have not taken them yet.
    var missing = places.waitingElsewhere
    while missing > 0, !idle.isEmpty, let next = places.next(hasConnection: true) {
      let oldest = idle[0]
      removeIdle(at: 0)
      close(oldest)
      next.send()
      missing -= 1
    }
    if places.freePlaces(of: limit) > 0 { places.next(hasConnection: false)?.send() }
  }
}
