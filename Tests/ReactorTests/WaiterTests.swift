import Testing
import Time

@testable import Reactor

struct WaiterTests {
  @Test("A wait ends at its deadline")
  func timeout() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let listener = try #require(try ListeningSocket.bind(try .loopback(), count: 1, id: 0).first)
      let (client, server) = try await poller.pair(on: worker, listener)
      let waiter = Waiter(poller)
      #expect(await waiter.wait(client, .readable, until: poller.deadline(after: 1)) == .timedOut)
      #expect(await waiter.sleep(until: poller.deadline(after: 1)) == .timedOut)
      #expect(await waiter.wait(client, .readable, server, .readable, until: poller.deadline(after: 1)) == .timedOut)
      waiter.cancelDeadline()
      client.close()
      server.close()
    }
  }

  @Test("A wait for two sockets ends with either")
  func either() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let listener = try #require(try ListeningSocket.bind(try .loopback(), count: 1, id: 0).first)
      let (client, server) = try await poller.pair(on: worker, listener)
      let waiter = Waiter(poller)
      let buffer = try #require(poller.buffers.take())
      buffer.append("x")
      poller.start(Script { _ = client.send(buffer) })
      #expect(await waiter.wait(client, .readable, server, .readable, until: poller.patience) == .ready)
      #expect(server.satisfies(.readable) && !client.satisfies(.readable))
      waiter.cancelDeadline()
      client.close()
      server.close()
      poller.buffers.giveBack(buffer)
    }
  }

  @Test("A wait that wants nothing of a socket does not end with it, even if the socket is broken")
  func unwanted() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let listener = try #require(try ListeningSocket.bind(try .loopback(), count: 1, id: 0).first)
      let (client, other) = try await poller.pair(on: worker, listener)
      client.reset()
      let waiter = Waiter(poller)
      #expect(await waiter.wait(other, .readable, until: poller.patience) == .ready)
      #expect(other.readiness.contains(.broken))
      let second = try #require(try ListeningSocket.bind(try .loopback(), count: 1, id: 1).first)
      let (quiet, silent) = try await poller.pair(on: worker, second)
      #expect(await waiter.wait(quiet, .readable, other, [], until: poller.deadline(after: 1)) == .timedOut)
      #expect(await waiter.wait(quiet, .readable, other, .broken, until: poller.patience) == .ready)
      waiter.cancelDeadline()
      for socket in [quiet, silent, other] { socket.close() }
    }
  }

  @Test("The end of a peer and its reset are distinguished")
  func ends() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let buffer = try #require(poller.buffers.take())
      for isReset in [false, true] {
        let listener = try #require(try ListeningSocket.bind(try .loopback(), count: 1, id: isReset ? 1 : 0).first)
        let (client, server) = try await poller.pair(on: worker, listener)
        if isReset { client.reset() } else { client.close() }
        let waiter = Waiter(poller)
        #expect(await waiter.wait(server, .readable, until: poller.patience) == .ready)
        let transfer = server.receive(into: buffer)
        #expect(isReset ? transfer == .failed(.reset) : transfer == .ended)
        server.close()
        server.close()
        #expect(server.receive(into: buffer) == .failed(.aborted))
        waiter.cancelDeadline()
      }
      poller.buffers.giveBack(buffer)
    }
  }

  @Test("A drain ends idle waits, and new ones at once")
  func drain() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let listener = try #require(try ListeningSocket.bind(try .loopback(), count: 1, id: 0).first)
      let (client, server) = try await poller.pair(on: worker, listener)
      let waiter = Waiter(poller)
      poller.start(Script { poller.beginDraining() })
      #expect(await waiter.waitIdle(client, until: poller.patience) == .draining)
      #expect(await waiter.waitIdle(client, until: poller.patience) == .draining)
      waiter.cancelDeadline()
      client.close()
      server.close()
    }
  }

  @Test("Above the limit the oldest idle wait is asked to park")
  func idleLimit() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let list = IdleList()
      let waiters = (0..<IdleList.limit + 3).map { _ in Waiter(poller) }
      var woken: [Int] = []
      for (index, waiter) in waiters.enumerated() {
        poller.start(
          Script {
            if await waiter.sleep(until: poller.patience) == .park { woken.append(index) }
          })
      }
      await poller.turn()
      for waiter in waiters { list.append(waiter) }
      await poller.turn()
      #expect(woken == [0, 1, 2])
      #expect(list.count == IdleList.limit)
      list.remove(waiters[1])
      list.remove(waiters[10])
      #expect(list.count == IdleList.limit - 1)
      list.resumeAll(.draining)
      #expect(list.count == 0)
      await poller.turn()
      // The wait that was removed from the list is still asleep.
      waiters[10].resume(.ready)
      for waiter in waiters { waiter.cancelDeadline() }
    }
  }

  @Test("A second wake-up has no effect")
  func twice() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let waiter = Waiter(poller)
      poller.start(
        Script {
          waiter.resume(.ready)
          waiter.resume(.timedOut)
        })
      #expect(await waiter.sleep(until: poller.patience) == .ready)
      waiter.cancelDeadline()
    }
  }

  @Test("Closing a socket decrements the count of open sockets")
  func counts() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let listener = try #require(try ListeningSocket.bind(try .loopback(), count: 1, id: 0).first)
      let (client, server) = try await poller.pair(on: worker, listener)
      #expect(poller.openSockets == 3)
      #expect(worker.connections.count == 1)
      client.close()
      server.close()
      #expect(poller.openSockets == 1)
      #expect(worker.connections.count == 0)
      #expect(worker.connections.accepted == 1)
    }
  }

  @Test("Of many tasks that yield their share a few continue in each turn, oldest first, and others are not delayed")
  func givingWay() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let (tasks, turns) = (100, 200)
      var steps = [Int](repeating: 0, count: tasks)
      var isOver = false
      for index in 0..<tasks {
        poller.start(
          Script {
            let waiter = Waiter(poller)
            while !isOver {
              steps[index] += 1
              await waiter.yieldShare()
            }
            waiter.cancelDeadline()
          })
      }
      let waiter = Waiter(poller)
      await waiter.yield()
      var most = 0
      for _ in 0..<turns {
        let before = steps.reduce(0, +)
        await waiter.yield()
        most = max(most, steps.reduce(0, +) - before)
      }
      isOver = true
      waiter.cancelDeadline()
      #expect((1...10).contains(most))
      let (least, highest) = (steps.min() ?? 0, steps.max() ?? 0)
      #expect(least > turns / tasks && highest - least <= 1)
    }
  }

  @Test("A task that sends for others continues after the other tasks of the next turn")
  func sendingForOthers() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let sender = Waiter(poller)
      var steps: [String] = []
      poller.start(
        Script {
          await sender.waitForResume()
          steps.append("sends")
        })
      for index in 0..<2 {
        poller.start(
          Script {
            let waiter = Waiter(poller)
            steps.append("produces \(index)")
            sender.resumeLast()
            await waiter.yield()
            steps.append("produces more \(index)")
          })
      }
      await poller.turn()
      #expect(steps == ["produces 0", "produces 1", "produces more 0", "produces more 1", "sends"])
    }
  }

  @Test("A task that sends for others waits for at most 256 of them")
  func sendingForMany() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let sender = Waiter(poller)
      var others = 0
      var waitedFor: Int?
      poller.start(
        Script {
          await sender.waitForResume()
          waitedFor = others
        })
      for _ in 0..<300 {
        poller.start(
          Script {
            let waiter = Waiter(poller)
            sender.resumeLast()
            await waiter.yield()
            others += 1
          })
      }
      await poller.turn()
      #expect(others == 300)
      // The task of this test is the first of the 256.
      #expect(waitedFor == 255)
    }
  }

  @Test("A task that sends for others continues at once if there are no other tasks")
  func sendingAlone() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let (sender, waiter) = (Waiter(poller), Waiter(poller))
      poller.start(
        Script {
          await sender.waitForResume()
          waiter.resume(.ready)
        })
      poller.start(Script { sender.resumeLast() })
      #expect(await waiter.sleep(until: poller.patience) == .ready)
      waiter.cancelDeadline()
    }
  }

  @Test("Tasks of one turn that join a batch first work and then send, up to 32 at a time, in their order")
  func gathering() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let tasks = 40
      var steps: [String] = []
      for index in 0..<tasks {
        poller.start(
          Script {
            let waiter = Waiter(poller)
            await waiter.yield()
            steps.append("works \(index)")
            await waiter.joinSendBatch()
            steps.append("sends \(index)")
            // A task does not join a second batch after the others of its turn.
            await waiter.joinSendBatch()
            steps.append("ends \(index)")
            waiter.cancelDeadline()
          })
      }
      await poller.turn()
      let expected = [0..<32, 32..<40].flatMap { together in
        together.map { "works \($0)" } + together.flatMap { ["sends \($0)", "ends \($0)"] }
      }
      #expect(steps == expected)
    }
  }

  @Test("A task in a batch waits for at most 31 others, even if those do not join")
  func gatheringAmongOthers() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      var others = 0
      var waitedFor: Int?
      for index in 0..<200 {
        poller.start(
          Script {
            let waiter = Waiter(poller)
            await waiter.yield()
            if index == 0 {
              await waiter.joinSendBatch()
              waitedFor = others
            } else {
              others += 1
            }
            waiter.cancelDeadline()
          })
      }
      await poller.turn()
      #expect(others == 199)
      #expect(waitedFor == 31)
    }
  }

  @Test("A task that is alone, has just begun or has yielded its share does not join a batch")
  func gatheringAlone() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      var steps: [String] = []
      for index in 0..<2 {
        poller.start(
          Script {
            let waiter = Waiter(poller)
            await waiter.joinSendBatch()
            steps.append("begins \(index)")
            await waiter.yieldShare()
            await waiter.joinSendBatch()
            steps.append("goes on \(index)")
            waiter.cancelDeadline()
          })
      }
      await poller.turn()
      #expect(steps == ["begins 0", "begins 1", "goes on 0", "goes on 1"])
      let waiter = Waiter(poller)
      await waiter.yield()
      await waiter.joinSendBatch()
      waiter.cancelDeadline()
    }
  }
}

extension Poller {
  /// Runs everything that is queued.
  func turn() async {
    let waiter = Waiter(self)
    for _ in 0..<3 { await waiter.yield() }
    _ = await waiter.sleep(until: deadline(after: 1))
    waiter.cancelDeadline()
  }
}
