import ArgumentParser
import Compression
import FoundationEssentials
import Rollout

/// The lines of logs: files, files that are compressed with gzip, and standard input (`-`).
enum LogLines {
  /// The maximum length of the content of a compressed file. Files that are not compressed may have any length.
  private static let maximumDecodedLength = 1024 * 1024 * 1024

  /// The maximum length of a line, in bytes. The gateway writes shorter ones.
  static let maximumLength = LogLine.maximumLength

  /// Calls `read` with each line of the logs, without its end, in order. A line that is longer than
  /// ``maximumLength`` is cut to one byte more. Reports a log that cannot be read, and throws
  /// the exit code.
  static func forEach(in paths: [String], _ read: ([UInt8]) -> Void) throws(ExitCode) {
    for path in paths {
      if path == "-" {
        while let line = readLine() { read(Array(line.utf8)) }
        continue
      }
      do throws(InputFile.Problem) {
        let data = try InputFile.map(path)
        if data.starts(with: [0x1f, 0x8b]) {
          split(try decoded(data), read)
        } else {
          split(data, read)
        }
      } catch {
        Console.reportError("the log \(path) \(error.text)")
        throw .systemFailure
      }
    }
  }

  private static func decoded(_ data: Data) throws(InputFile.Problem) -> [UInt8] {
    do throws(CompressionError) {
      return try Decoder.decode([UInt8](data), .gzip, limit: maximumDecodedLength)
    } catch {
      throw InputFile.Problem(text: "is not valid gzip data, or its content is too long; decompress it first")
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
