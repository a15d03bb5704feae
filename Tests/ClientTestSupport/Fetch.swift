import Demo
public import HTTP
import LegacyServer
import Reactor
import Synchronization
import Time

/// Requests to a loopback port, each from a loop on a thread of its own.
public enum Fetch {
  /// The thread of the client ended without a result.
  struct NoAnswer: Error {}

  /// Sends a GET request. `host` replaces the `Host` field, which otherwise names the loopback address.
  ///
  /// Throws `IOError` or `LoopbackClient.Failure`.
  public static func get(_ port: Int, _ target: String, host: String? = nil) async throws -> Response {
    var request = Request(method: "GET", target: target)
    if let host { request.headers.append("Host", host) }
    return try await send(port, request)
  }

  /// Sends the request and waits for the whole response, for up to 120 s.
  ///
  /// Throws `IOError` or `LoopbackClient.Failure`.
  public static func send(_ port: Int, _ request: Request) async throws -> Response {
    let address = WebAddress(host: "127.0.0.1", port: port)
    let worker = try Worker(index: 0)
    let answer = try await OSThread.run("client") {
      let answer = Mutex<Result<Response, LoopbackClient.Failure>?>(nil)
      worker.runOnCurrentThread { worker in
        do throws(LoopbackClient.Failure) {
          let response = try await LoopbackClient(worker.poller, timeout: 120_000).send(address, request)
          answer.withLock { $0 = .success(response) }
        } catch {
          answer.withLock { $0 = .failure(error) }
        }
        worker.stop()
      }
      return answer.withLock { $0 }
    }
    guard let answer else { throw NoAnswer() }
    return try answer.get()
  }

  /// The body of a response as UTF-8.
  public static func text(_ response: Response) -> String { String(decoding: response.body, as: UTF8.self) }
}
