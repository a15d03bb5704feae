/// A reply of a Redis server (RESP, version 2).
public enum RESPReply: Equatable, Sendable {
  /// A simple string, such as `OK`.
  case status(String)
  /// A bulk string.
  case bytes([UInt8])
  /// An integer.
  case integer(Int64)
  /// The absence of a value.
  case null
  /// An array.
  case array([RESPReply])
  /// An error: a word that names it, such as `NOAUTH`, and an explanation.
  case error(String)
}

/// Bytes that are not RESP, or a reply beyond the limits of ``RESPReader``.
public struct RESPError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The problem: the message of hiredis, or the limit that the reply exceeds.
  public let description: String
}
