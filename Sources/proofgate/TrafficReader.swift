import ArgumentParser
import Compression
import FoundationEssentials
import Rollout

/// Reads the logs of `learn` and `readiness`: files, compressed files and standard input.
enum TrafficReader {
  /// The maximum length of the content of a compressed file. Files that are not compressed may have any length.
  private static let maximumDecodedLength = 1024 * 1024 * 1024

  /// Reads logs. Reports a log that cannot be read, and throws the exit code.
  static func read(_ paths: [String], since: String = "") throws(ExitCode) -> Traffic {
    var traffic = Traffic(since: since)
    for path in paths {
      if path == "-" {
        while let line = readLine() { traffic.add(Array(line.utf8)) }
        continue
      }
      do throws(InputFile.Problem) {
        let data = try InputFile.map(path)
        if data.starts(with: [0x1f, 0x8b]) {
          try add(try decoded(data)[...], to: &traffic)
        } else {
          try add(data, to: &traffic)
        }
      } catch {
        Console.reportError("the log \(path) \(error.text)")
        throw .systemFailure
      }
    }
    return traffic
  }

  /// Reports the lines that could not be read, so that a log in another format is not taken for an empty one.
  static func reportGaps(in traffic: Traffic) {
    if traffic.unreadableLines > 0 {
      Console.warn(
        "\(traffic.unreadableLines) lines are in neither of the two formats (decision log, combined access log), or too "
          + "long")
    }
    if traffic.omittedRequests > 0 {
      Console.warn(
        "\(traffic.omittedRequests) requests of further clients are left out, because the log has more than "
          + "\(Traffic.maximumClients) client ids")
    }
  }

  private static func decoded(_ data: Data) throws(InputFile.Problem) -> [UInt8] {
    do throws(CompressionError) {
      return try Decoder.decode([UInt8](data), .gzip, limit: maximumDecodedLength)
    } catch {
      throw InputFile.Problem(text: "is not valid gzip data, or its content is too long; decompress it first")
    }
  }

  private static func add(
    _ bytes: some RandomAccessCollection<UInt8>, to traffic: inout Traffic
  )
    throws(InputFile.Problem)
  {
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
      if bytes.distance(from: start, to: end) <= LogLine.maximumLength {
        traffic.add([UInt8](bytes[start..<end]))
      } else {
        traffic.addUnreadableLine()
      }
      start = end == bytes.endIndex ? end : bytes.index(after: end)
    }
  }
}
