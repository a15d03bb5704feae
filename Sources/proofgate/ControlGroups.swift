/// The limits that the control groups of this process set (cgroups(7)), versions 1 and 2.
struct ControlGroups {
  /// The mount point of the control groups.
  /// The content of `/proc/self/cgroup`.
  private let root: String
  private let membership: String

  /// The control groups of this process.
  static var own: ControlGroups {
    ControlGroups(root: "/sys/fs/cgroup", membership: (try? InputFile.read("/proc/self/cgroup")) ?? "")
  }

  init(root: String, membership: String) {
    self.root = root
    self.membership = membership
  }

  /// The number of whole processors, rounded up; `nil` if there is no limit.
  var processors: Int? {
    let unified = texts("cpu.max", of: nil).compactMap { ControlGroups.count(quota: $0) }
    let legacy = zip(texts("cpu.cfs_quota_us", of: "cpu"), texts("cpu.cfs_period_us", of: "cpu"))
      .compactMap { ControlGroups.count(quota: "\($0) \($1)") }
    return (unified + legacy).min()
  }

  /// The memory limit in bytes; `nil` if there is no limit.
  var memory: Int? {
    (texts("memory.max", of: nil) + texts("memory.limit_in_bytes", of: "memory"))
      .compactMap { Int($0.prefix { $0 != "\n" }) }
      // Version 1 expresses "no limit" by the largest number of pages.
      .filter { $0 > 0 && $0 < 1 << 60 }.min()
  }

  /// Returns the number of processors, rounded up, for a quota: the text of `cpu.max` with the microseconds of
  /// processor time in a period, and the period. Returns `nil` if there is no limit.
  static func count(quota text: String) -> Int? {
    let words = text.split { $0 == " " || $0 == "\n" }
    guard words.count == 2, let quota = Int(words[0]), let period = Int(words[1]), quota > 0, period > 0 else {
      return nil
    }
    return max(1, quota / period + (quota % period > 0 ? 1 : 0))
  }

  /// Returns the contents of a file in the process's group and in all parent groups, each of which may have a limit.
  private func texts(_ file: String, of controller: String?) -> [String] {
    folders(of: controller).flatMap { folder in
      ControlGroups.groups(of: membership, controller: controller)
        .compactMap { try? InputFile.read("\(root)\(folder)\($0)/\(file)") }
    }
  }

  /// Returns the mount points of a hierarchy: version 2 at the root or, together with version 1, in `unified`.
  private func folders(of controller: String?) -> [String] {
    guard let controller else { return ["", "/unified"] }
    // Controllers may share a hierarchy as `cpu,cpuacct`; then `cpu` is a link to it, or is missing.
    let shared = ControlGroups.hierarchies(of: membership)
      .filter { $0.controllers.count > 1 && $0.controllers.contains(Substring(controller)) }
      .map { "/" + $0.controllers.joined(separator: ",") }
    return ["/" + controller] + shared
  }

  /// Returns the process's group and its parents, in the hierarchy of a version 1 controller, or of version 2 for
  /// `nil`. In a container the process's own group is the root.
  static func groups(of membership: String, controller: String?) -> [String] {
    var groups = [""]
    let hierarchy = hierarchies(of: membership).first { hierarchy in
      controller.map { hierarchy.controllers.contains(Substring($0)) } ?? hierarchy.controllers.isEmpty
    }
    guard let hierarchy else { return groups }
    var path = ""
    for name in hierarchy.path.split(separator: "/") where name != ".." {
      path += "/\(name)"
      groups.append(path)
    }
    return groups
  }

  /// Parses lines of the form `ID:CONTROLLERS:PATH`; version 2 has no controllers.
  private static func hierarchies(of membership: String) -> [(controllers: [Substring], path: Substring)] {
    membership.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { return nil }
      return (parts[1].split(separator: ","), parts[2])
    }
  }
}
