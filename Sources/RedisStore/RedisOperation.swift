internal import RESP
internal import Time

/// One operation that Redis executes as one command: on one key or, for a count of the entries, on many.
enum RedisOperation: Sendable {
  /// Stores a value if the key has none. The reply is the existing value, or null.
  case put(key: [UInt8], value: [UInt8], lifetime: Seconds)
  /// Stores a value and replaces an existing one.
  case set(key: [UInt8], value: [UInt8], lifetime: Seconds)
  /// Replaces `old` by `new` if `old` is the value. The reply is 1 if it was replaced, otherwise 0.
  case swap(key: [UInt8], old: [UInt8], new: [UInt8], lifetime: Seconds)
  /// Removes the key if `value` is its value. The reply is 1 if it was removed, otherwise 0.
  case remove(key: [UInt8], value: [UInt8])
  /// Returns the value.
  case get(key: [UInt8])
  /// Returns the value and removes it.
  case take(key: [UInt8])
  /// Returns the next keys that match `pattern`, and the cursor of the following call; `0` after the last one.
  case scan(cursor: [UInt8], pattern: [UInt8])
  /// Returns the length of the value of each key; -1 for a key without a value.
  case lengths(keys: [[UInt8]])

  /// The script that replaces or removes the value of a key if it is the expected value.
  ///
  ///     KEYS[1]  the key
  ///     ARGV[1]  the expected value
  ///     ARGV[2]  the new value
  ///     ARGV[3]  the lifetime of the new value in milliseconds; 0: the key is removed; -1: no limit
  ///     ARGV[4]  1 if the command may have been executed before; the new value then counts as written by that command
  static let compareAndSetScript = """
    local value = redis.call('GET', KEYS[1]) \
    if value == ARGV[1] then \
    if ARGV[3] == '0' then redis.call('DEL', KEYS[1]) \
    elseif ARGV[3] == '-1' then redis.call('SET', KEYS[1], ARGV[2]) \
    else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end \
    return 1 end \
    if ARGV[4] == '1' and (value == ARGV[2] or (ARGV[3] == '0' and not value)) then return 1 end \
    return 0
    """
  /// The script that returns the lengths of the values of `KEYS`. The command `STRLEN` would have to be sent for each
  /// key, and the user would need one more right.
  static let lengthsScript = """
    local lengths = {} \
    for index, key in ipairs(KEYS) do \
    local value = redis.call('GET', key) \
    lengths[index] = value and #value or -1 end \
    return lengths
    """
  /// The SHA-1 digest of `compareAndSetScript`, by which the server finds the script.
  static let compareAndSetDigest = "2679c99486940016370d5fbebe0e82fa413d67a3"

  /// True if the command changes the store.
  var isWrite: Bool {
    switch self {
    case .put, .set, .swap, .remove, .take: true
    case .get, .scan, .lengths: false
    }
  }

  /// True if the command may be repeated when its outcome is unknown. After `take`, the value is gone, and a repeat
  /// could not find out which request took it.
  var isRepeatable: Bool { if case .take = self { false } else { true } }

  /// Returns the command and its arguments.
  ///
  /// - Parameters:
  ///   - isRepeat: true if the command was sent before and its outcome is unknown.
  ///   - sendsScript: true to send the text of the script in place of its digest, for a server that does not know the
  ///     script yet.
  func words(isRepeat: Bool, sendsScript: Bool) -> [[UInt8]] {
    switch self {
    case .put(let key, let value, let lifetime):
      [Words.set, key, value, Words.nx, Words.get, Words.px, Words.number(Milliseconds(lifetime))]
    case .set(let key, let value, let lifetime):
      [Words.set, key, value, Words.px, Words.number(Milliseconds(lifetime))]
    case .swap(let key, let old, let new, let lifetime):
      compareAndSet(key, old, new: new, lifetime: lifetime, isRepeat: isRepeat, sendsScript: sendsScript)
    case .remove(let key, let value):
      // The script removes the key if the lifetime is 0.
      compareAndSet(key, value, new: [], lifetime: 0, isRepeat: isRepeat, sendsScript: sendsScript)
    case .get(let key): [Words.get, key]
    case .take(let key): [Words.getdel, key]
    case .scan(let cursor, let pattern):
      [Words.scan, cursor, Words.match, pattern, Words.count, Words.number(RedisLimits.scannedKeys)]
    case .lengths(let keys): [Words.eval, Words.lengthsScript, Words.number(keys.count)] + keys
    }
  }

  private func compareAndSet(
    _ key: [UInt8], _ old: [UInt8], new: [UInt8], lifetime: Seconds, isRepeat: Bool, sendsScript: Bool
  ) -> [[UInt8]] {
    // The script has one key.
    (sendsScript ? [Words.eval, Words.compareAndSet] : [Words.evalsha, Words.compareAndSetDigest])
      + [Words.one, key, old, new, Words.number(Milliseconds(lifetime)), isRepeat ? Words.one : Words.zero]
  }
}

/// The words of commands, as bytes.
enum Words {
  static let set = Array("SET".utf8)
  static let get = Array("GET".utf8)
  static let getdel = Array("GETDEL".utf8)
  static let nx = Array("NX".utf8)
  static let px = Array("PX".utf8)
  static let eval = Array("EVAL".utf8)
  static let evalsha = Array("EVALSHA".utf8)
  static let wait = Array("WAIT".utf8)
  static let scan = Array("SCAN".utf8)
  static let match = Array("MATCH".utf8)
  static let count = Array("COUNT".utf8)
  static let zero = Array("0".utf8)
  static let one = Array("1".utf8)
  static let compareAndSet = Array(RedisOperation.compareAndSetScript.utf8)
  static let compareAndSetDigest = Array(RedisOperation.compareAndSetDigest.utf8)
  static let lengthsScript = Array(RedisOperation.lengthsScript.utf8)

  static func number(_ number: Int) -> [UInt8] { Array(String(number).utf8) }
  static func number(_ time: Milliseconds) -> [UInt8] { number(time.count) }
  static func text(_ words: String...) -> [[UInt8]] { words.map { Array($0.utf8) } }
}
