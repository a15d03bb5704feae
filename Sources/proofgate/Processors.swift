import Reactor

/// How many event loops make sense here: more than the process may use processors only make each other wait.
enum Processors {
  private static let root = "/sys/fs/cgroup"

  /// The smaller of what the affinity mask and the control group allow; at least 1.
  static var usable: Int {
    let own = (try? InputFile.read("/proc/self/cgroup")) ?? ""
    let quotas = groups(of: own).compactMap { group -> Int? in
      guard let text = try? InputFile.read("\(root)\(group)/cpu.max") else { return nil }
      return count(quota: text)
    }
    return max(1, ([Thread.affinityCount] + quotas).min() ?? 1)
  }

  /// Processors, rounded up, of a control group's `cpu.max`: microseconds of processor time in a period, and the period.
  /// `nil` when nothing is limited.
  static func count(quota text: String) -> Int? {
    let words = text.split { $0 == " " || $0 == "\n" }
    guard words.count == 2, let quota = Int(words[0]), let period = Int(words[1]), quota > 0, period > 0 else {
      return nil
    }
    return max(1, quota / period + (quota % period > 0 ? 1 : 0))
  }

  /// The process's control group (version 2) with its parents, each of which may have a quota. In a container the
  /// process's own group is the root.
  static func groups(of text: String) -> [String] {
    var groups = [""]
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return groups }
    var path = ""
    for name in line.dropFirst(3).split(separator: "/") where name != ".." {
      path += "/\(name)"
      groups.append(path)
    }
    return groups
  }
}
