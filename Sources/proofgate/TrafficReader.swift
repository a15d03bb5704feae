import ArgumentParser
import Rollout

/// Reads the logs of `learn` and `readiness`: files, compressed files and standard input.
enum TrafficReader {
  /// Reads logs. Reports a log that cannot be read, and throws the exit code.
  static func read(_ paths: [String], since: String = "", listed: Set<String> = []) throws(ExitCode) -> Traffic {
    var traffic = Traffic(since: since, listed: listed)
    try LogLines.forEach(in: paths) { line in
      if line.count <= LogLine.maximumLength { traffic.add(line) } else { traffic.addUnreadableLine() }
    }
    traffic.removeLeastUsed()
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
        "\(traffic.omittedRequests) requests are left out, because the log has more than \(Traffic.maximumClients) client "
          + "ids that the server never accepted; those with the fewest requests from the networks with the most ids are "
          + "missing")
    }
  }
}
