import Testing

@testable import RedisStore

@Suite("The words of a failure of a store in Redis")
struct RedisFailureTextTests {
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
