import Glibc
import OAuth
import Reactor
import TLS
import Testing
import Time

@testable import ClientDocuments

@Suite("Fetches of client documents over sockets")
struct DocumentFetchTests {
  private typealias Fixture = DocumentFixture

  /// Fetches from a server with this script. Returns the result, and the number of connections and requests.
  private static func fetch(
    certificate: String = "gateway", authority: String = "server-ca", _ script: @escaping DocumentServer.Script
  ) async throws -> (result: Result<FetchedDocument, DocumentFailure>, requests: [String]) {
    try await FetchWorker.run([
      { worker in
        let server = try DocumentServer(on: worker, certificate: certificate, script)
        let fetcher = try Fixture.fetcher(NameAnswers([server.address]), authority: authority)
        let result = await fetcher.result(try Fixture.url(server.address.port), on: worker)
        return (result, server.requests)
      }
    ])[0]
  }

  /// A script that sends the response to the path of the request.
  private static let plain: DocumentServer.Script = { server, connection in
    await server.read(connection)
    guard let answer = try? Fixture.answer(server) else { return }
    _ = await connection.send(answer)
  }

  @Test("A document is fetched with one GET that says nothing about the user, and its lifetime is that of its fields")
  func plainFetch() async throws {
    let (result, requests) = try await Self.fetch(Self.plain)
    let fetched = try result.get()
    #expect(fetched.metadata.name == "Tool" && fetched.lifetime == 3_600)
    let lines = try #require(requests.first).split(separator: "\r\n").map(String.init)
    #expect(requests.count == 1 && lines[0] == "GET /client.json HTTP/1.1")
    let names = Set(lines.dropFirst().compactMap { $0.split(separator: ":").first?.lowercased() })
    #expect(names == ["host", "user-agent", "accept", "accept-encoding", "connection"])
  }

  // MARK: Time and size

  @Test("A server that is silent or sends one byte every 100 ms does not prolong a fetch beyond 3 seconds in all")
  func slowServers() async throws {
    let drip: @Sendable (DocumentServer.Connection) async -> Void = { connection in
      while await connection.send([0x61]) { await connection.pause(100) }
    }
    let scripts: [(certificate: String?, script: DocumentServer.Script)] = [
      // No TLS handshake.
      (nil, { _, connection in await connection.pause(30_000) }),
      // No response.
      ("gateway", { _, connection in await connection.pause(30_000) }),
      // A head without an end.
      (
        "gateway",
        { _, connection in
          _ = await connection.send(Array("HTTP/1.1 200 OK\r\nX: ".utf8))
          await drip(connection)
        }
      ),
      // A body without an end.
      (
        "gateway",
        { server, connection in
          await server.read(connection)
          _ = await connection.send(Fixture.head("Content-Type: application/json\r\nContent-Length: 5000\r\n"))
          await drip(connection)
        }
      ),
    ]
    let results = try await FetchWorker.run(
      scripts.map { item in
        { worker in
          let server = try DocumentServer(on: worker, certificate: item.certificate, item.script)
          let fetcher = try Fixture.fetcher(NameAnswers([server.address]))
          let began = SystemClock.monotonicTime()
          let result = await fetcher.result(try Fixture.url(server.address.port), on: worker)
          return (result.outage, SystemClock.monotonicTime() - began)
        }
      })
    for (outage, time) in results {
      #expect(outage == .timeout)
      // The time begins with the turn of the loop, which a busy machine may have interrupted; there it also ends later.
      #expect(time >= 2_000 && time < 25_000)
    }
  }

  /// The framings of a body.
  enum Framing: CaseIterable {
    case length
    case chunked
    case untilClose
  }

  @Test(
    "A document of 5,120 bytes is accepted, and one of 5,121 is refused, in every framing",
    arguments: Framing.allCases)
  func size(_ framing: Framing) async throws {
    for (length, isAccepted) in [(5_120, true), (5_121, false)] {
      let (result, _) = try await Self.fetch { server, connection in
        await server.read(connection)
        guard let url = try? Fixture.url(server.address.port) else { return }
        let body = Fixture.document(url, length: length)
        let type = "Content-Type: application/json\r\n"
        switch framing {
        case .length: _ = await connection.send(Fixture.response(body))
        case .untilClose: _ = await connection.send(Fixture.head(type) + body)
        case .chunked:
          _ = await connection.send(Fixture.head(type + "Transfer-Encoding: chunked\r\n"))
          var rest = body[...]
          while !rest.isEmpty {
            let piece = rest.prefix(700)
            rest = rest.dropFirst(700)
            _ = await connection.send(Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10])
          }
          _ = await connection.send(Array("0\r\n\r\n".utf8))
        }
      }
      #expect(result.isSuccess == isAccepted && result.isInvalid != isAccepted, "\(result)")
    }
  }

  @Test("A body without an end is refused after 5 KiB, and an announced length above it before any byte")
  func endless() async throws {
    let (chunked, _) = try await Self.fetch { server, connection in
      await server.read(connection)
      _ = await connection.send(Fixture.head("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"))
      while await connection.send(Array("3e8\r\n".utf8) + [UInt8](repeating: 0x20, count: 1_000) + [13, 10]) {}
    }
    #expect(chunked.isInvalid)
    let (announced, _) = try await Self.fetch { server, connection in
      await server.read(connection)
      _ = await connection.send(Fixture.head("Content-Type: application/json\r\nContent-Length: 5121\r\n"))
      await connection.pause(30_000)
    }
    #expect(announced.isInvalid)
  }

  // MARK: Responses

  @Test("A redirect is refused, and its target gets no request", arguments: [301, 302, 303, 307, 308])
  func redirect(_ status: Int) async throws {
    let (result, requests) = try await Self.fetch { server, connection in
      await server.read(connection)
      let target = "https://gw.example:\(server.address.port)/other.json"
      _ = await connection.send(
        Fixture.head("Location: \(target)\r\nContent-Length: 0\r\n", status: status))
    }
    #expect(result.isInvalid && requests.count == 1)
  }

  @Test("A response that is not a JSON document is refused, and only an error of the server is temporary")
  func unacceptable() async throws {
    let json = "Content-Type: application/json\r\nContent-Length: 2\r\n"
    for fields in [
      "Content-Type: text/html\r\nContent-Length: 2\r\n", "Content-Length: 2\r\n",
      "Content-Type: application/javascript\r\nContent-Length: 2\r\n",
      json + "Content-Type: text/plain\r\n", json + "Content-Encoding: gzip\r\n",
    ] {
      let (result, _) = try await Self.fetch(DocumentServer.answering(Fixture.head(fields) + Array("{}".utf8)))
      #expect(result.isInvalid, "\(fields)")
    }
    for status in [201, 204, 206] {
      let (result, _) = try await Self.fetch(
        DocumentServer.answering(Fixture.head(status == 204 ? "" : "Content-Length: 0\r\n", status: status)))
      #expect(result.isInvalid, "\(status)")
    }
    let (missing, _) = try await Self.fetch(DocumentServer.answering(Fixture.response([], status: 404)))
    guard case .failure(.status(404)) = missing else {
      Issue.record("\(missing)")
      return
    }
    let cut = Fixture.head("Content-Type: application/json\r\nContent-Length: 9\r\n") + Array("{}".utf8)
    for bytes in [Fixture.response([], status: 500), cut, Array("HTTP/1.1 200 OK\nX: y\r\n\r\n".utf8), []] {
      let (result, _) = try await Self.fetch(DocumentServer.answering(bytes))
      #expect(result.outage == .response, "\(result)")
    }
  }

  @Test("A certificate of another name, another authority or another time is refused before a request is sent")
  func certificates() async throws {
    for (certificate, authority) in [
      ("other", "server-ca"), ("expired", "server-ca"), ("alone", "server-ca"), ("gateway", "client-ca"),
    ] {
      let (result, requests) = try await Self.fetch(certificate: certificate, authority: authority, Self.plain)
      #expect(result.outage == .tls && requests.isEmpty, "\(certificate): \(result)")
    }
  }

  // MARK: Addresses

  @Test("A fetch uses the address that was checked, although the name has another address at the next look-up")
  func pinnedAddress() async throws {
    try await FetchWorker.run { worker in
      let server = try DocumentServer(on: worker, Self.plain)
      let other = try DocumentServer(on: worker, Self.plain)
      let names = NameAnswers([server.address], [other.address])
      let fetcher = try Fixture.fetcher(names)
      let url = try Fixture.url(server.address.port)
      for _ in 0..<2 { #expect(await fetcher.result(url, on: worker).isSuccess) }
      #expect(names.lookUps == 1)
      #expect(server.connections == 2 && other.connections == 0)
      // Of several addresses, those that are not permitted are not tried: the first would take the whole time.
      let both = NameAnswers([try #require(Address(literal: "10.0.0.1", port: 443)), server.address])
      let mixed = await (try Fixture.fetcher(both)).result(url, on: worker)
      #expect(mixed.isSuccess)
    }
  }

  @Test("A name whose addresses are private, loopback, link-local, shared, mapped or translated gets no connection")
  func privateAddresses() async throws {
    try await FetchWorker.run { worker in
      let server = try DocumentServer(on: worker, Self.plain)
      let url = try Fixture.url(server.address.port)
      for host in [
        "127.0.0.1", "::1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "fe80::1", "fd00::1",
        "100.64.0.1", "0.0.0.0", "::", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "2002:7f00:1::1",
        "2001::1", "255.255.255.255", "ff02::1",
      ] {
        let address = try #require(Address(literal: host, port: server.address.port))
        let fetcher = try Fixture.fetcher(NameAnswers([address]), permitsLoopback: false)
        #expect(await fetcher.result(url, on: worker).outage == .address, "\(host)")
      }
      #expect(server.connections == 0)
    }
  }

  @Test("The addresses of the gateway and of the server get no connection, on any port")
  func ownAddresses() async throws {
    try await FetchWorker.run { worker in
      let server = try DocumentServer(on: worker, Self.plain)
      let url = try Fixture.url(server.address.port)
      let names = NameAnswers([server.address])
      let listed = try Fixture.fetcher(names, ownAddresses: [server.address])
      #expect(await listed.result(url, on: worker).outage == .address)
      let upstream = names.resolver("upstream.example", 443)
      let named = try Fixture.fetcher(names, ownNames: [upstream])
      #expect(await named.result(url, on: worker).outage == .address)
      #expect(server.connections == 0)
      // Public addresses, to which no connection is attempted.
      let document = try #require(Address(literal: "8.8.8.8", port: 443))
      let own = try #require(Address(literal: "8.8.8.8", port: 8_443))
      let fetcher = try Fixture.fetcher(
        NameAnswers([document]), permitsLoopback: false, ownNames: [NameAnswers([own]).resolver("own.example", 8_443)])
      #expect(await fetcher.result(url, on: worker).outage == .address)
    }
  }

  @Test("The variables that name a proxy are ignored")
  func proxyVariables() async throws {
    try await FetchWorker.run { worker in
      let server = try DocumentServer(on: worker, Self.plain)
      let proxy = try DocumentServer(on: worker, certificate: nil, Self.plain)
      let names = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
      for name in names { unsafe setenv(name, "http://\(proxy.address)", 1) }
      defer { for name in names { unsafe unsetenv(name) } }
      let fetcher = try Fixture.fetcher(NameAnswers([server.address]))
      #expect(await fetcher.result(try Fixture.url(server.address.port), on: worker).isSuccess)
      #expect(proxy.connections == 0 && server.connections == 1)
    }
  }
}
