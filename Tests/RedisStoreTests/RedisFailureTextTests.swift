import Stores
import Testing

@testable import RedisStore

@Suite("The words of a failure of a store in Redis")
struct RedisFailureTextTests {
  @Test(
    "A server that does not serve at the moment counts as away, and the next connection looks for the primary",
    arguments: [
      "READONLY You can't write against a read only replica.", "LOADING Redis is loading the dataset in memory",
      "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
      "CLUSTERDOWN Hash slot not served", "MOVED 3999 127.0.0.1:6381",
    ])
  func away(reply: String) {
    let failure = RedisFailure(reply: reply)
    #expect(failure == .notServing(reply))
    #expect(failure.kind == .unavailable)
    #expect(failure.endsConnection)
    #expect(failure.storeError == .unavailable(reply))
  }

  @Test(
    "An error of the configuration is reported by its name, with its solution",
    arguments: [
      ("NOAUTH Authentication required.", "store_password"),
      ("WRONGPASS invalid username-password pair or user is disabled.", "store_password"),
      ("NOPERM this user has no permissions to run the 'get' command", "ACL line"),
      ("OOM command not allowed when used memory > 'maxmemory'.", "maxmemory"),
    ])
  func misconfigured(reply: String, solution: String) {
    let failure = RedisFailure(reply: reply)
    #expect(failure == .misconfigured(reply))
    #expect(failure.kind == .misconfigured)
    #expect(failure.text.hasPrefix(reply + ";"))
    #expect(failure.text.dropFirst(reply.count).contains(solution))
  }

  @Test("An error is shown on one line, without control characters, arguments and what is beyond 200 characters")
  func shown() {
    #expect(RedisFailure(reply: "READONLY replica").text == "READONLY replica")
    #expect(RedisFailure(reply: "LOADING \u{1b}[2J\r\n").text == "LOADING ?[2J??")
    #expect(
      RedisFailure(reply: "ERR unknown command 'AUTH', with args beginning with: 'secret' ").text
        == "ERR unknown command 'AUTH'")
    #expect(RedisFailure(reply: "ERR a, b").text == "ERR a, b")
    #expect(RedisFailure(reply: String(repeating: "x", count: 1_000)).text.utf8.count == 200)
  }
}
