internal import CHiredis

/// The encoding of commands for a Redis server.
public enum RESPCommand {
  /// Appends the encoding of a command to `output`.
  ///
  /// - Parameter words: the name of the command and its arguments.
  public static func append(_ words: [[UInt8]], to output: inout [UInt8]) {
    let joined = Array(words.joined())
    let lengths = words.map(\.count)
    var command: UnsafeMutablePointer<CChar>?
    // Sound: hiredis copies the words during the call. The pointers refer to `joined`, which contains all bytes of the
    // words.
    let count = unsafe joined.withUnsafeBytes { bytes in
      let base = unsafe bytes.bindMemory(to: CChar.self)
      var start = 0
      var pointers = unsafe lengths.map { length -> UnsafePointer<CChar>? in
        defer { start += length }
        return unsafe base.baseAddress.map { unsafe $0 + start }
      }
      return unsafe redisFormatCommandArgv(&command, Int32(words.count), &pointers, lengths)
    }
    guard count > 0, let command = unsafe command else { preconditionFailure("out of memory") }
    defer { unsafe redisFreeCommand(command) }
    unsafe UnsafeRawBufferPointer(start: command, count: Int(count)).withMemoryRebound(to: UInt8.self) { bytes in
      unsafe output.append(contentsOf: bytes)
    }
  }
}
