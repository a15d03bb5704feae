import ArgumentParser
import Compression
import FoundationEssentials
import Glibc
import Rollout

/// The lines of logs: files and standard input (`-`), both also compressed with gzip.
enum LogLines {
  /// The maximum length of a compressed log and of its content. Logs that are not compressed may have any length.
  private static let maximumDecodedLength = 1024 * 1024 * 1024

  /// The maximum length of a line, in bytes. The gateway writes shorter ones.
  static let maximumLength = LogLine.maximumLength

  /// The first bytes of a gzip file (RFC 1952, section 2.3.1).
  private static let gzipMark: [UInt8] = [0x1f, 0x8b]

  /// Calls `read` with each line of the logs, without its end, in order. A line that is longer than
  /// ``maximumLength`` is cut to one byte more. Reports a log that cannot be read, and throws
  /// the exit code.
  static func forEach(in paths: [String], _ read: ([UInt8]) -> Void) throws(ExitCode) {
    for path in paths {
      do throws(InputFile.Problem) {
        if path == "-" {
          try readStandardInput(read)
          continue
        }
        let data = try InputFile.map(path)
        if data.starts(with: gzipMark) {
          split(try decoded([UInt8](data)), read)
        } else {
          split(data, read)
        }
      } catch {
        Console.reportError("\(path == "-" ? "the log on standard input" : "the log \(path)") \(error.text)")
        throw error.code
      }
    }
  }

  /// Reads standard input to its end. Only compressed input is kept in memory as a whole, because a pipe may deliver a log
  /// of any length.
  private static func readStandardInput(_ read: ([UInt8]) -> Void) throws(InputFile.Problem) {
    var first: [UInt8] = []
    while first.count < gzipMark.count, let byte = nextByte() { first.append(byte) }
    guard first == gzipMark else { return splitStandardInput(after: first, read) }
    while let byte = nextByte() {
      guard first.count < maximumDecodedLength else { throw undecodable }
      first.append(byte)
    }
    split(try decoded(first), read)
  }

  /// Calls `read` with each line of standard input, whose first bytes have been read already.
  private static func splitStandardInput(after first: [UInt8], _ read: ([UInt8]) -> Void) {
    var line: [UInt8] = []
    var isOpen = false
    func add(_ byte: UInt8) {
      isOpen = byte != UInt8(ascii: "\n")
      if !isOpen {
        read(line)
        line.removeAll(keepingCapacity: true)
      } else if line.count <= maximumLength {
        line.append(byte)
      }
    }
    first.forEach(add)
    while let byte = nextByte() { add(byte) }
    if isOpen { read(line) }
  }

  /// Returns the next byte of standard input; `nil` at its end.
  private static func nextByte() -> UInt8? { UInt8(exactly: getchar_unlocked()) }

  private static let undecodable = InputFile.Problem(
    reason: "is not valid gzip data, or its content is too long", advice: "decompress it first", code: .policyErrors)

  private static func decoded(_ data: [UInt8]) throws(InputFile.Problem) -> [UInt8] {
    do throws(CompressionError) {
      return try Decoder.decode(data, .gzip, limit: maximumDecodedLength)
    } catch {
      throw undecodable
    }
  }

  private static func split(_ bytes: some RandomAccessCollection<UInt8>, _ read: ([UInt8]) -> Void) {
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
      // One byte more than the maximum shows the reader that the line is too long.
      read([UInt8](bytes[start..<end].prefix(maximumLength + 1)))
      start = end == bytes.endIndex ? end : bytes.index(after: end)
    }
  }
}
