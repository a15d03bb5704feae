/// The limits of the control groups of a process (cgroups(7)), versions 1 and 2.
struct ControlGroups {
  /// The directory in which the hierarchies of control groups are mounted.
  private let root: String
  /// The content of `/proc/self/cgroup`, which lists the groups of the process.
  private let membership: String

  /// The control groups of this process.
  static var ofThisProcess: ControlGroups {
    ControlGroups(root: "/sys/fs/cgroup", membership: (try? InputFile.read("/proc/self/cgroup")) ?? "")
  }

  init(root: String, membership: String) {
    self.root = root
    self.membership = membership
  }

  /// The limit on processor time as a number of processors, rounded up; `nil` if there is no limit.
  var processors: Int? {
    let version2 = contents("cpu.max", controller: nil).compactMap { ControlGroups.processorCount(quota: $0) }
    let version1 = zip(
      contents("cpu.cfs_quota_us", controller: "cpu"), contents("cpu.cfs_period_us", controller: "cpu")
    )
    .compactMap { ControlGroups.processorCount(quota: "\($0) \($1)") }
    return (version2 + version1).min()
  }

  /// The memory limit in bytes; `nil` if there is no limit.
  var memory: Int? {
    (contents("memory.max", controller: nil) + contents("memory.limit_in_bytes", controller: "memory"))
      .compactMap { Int($0.prefix { $0 != "\n" }) }
      // In version 1, a value near the largest `Int` means that there is no limit. Version 2 uses the text `max`.
      .filter { $0 > 0 && $0 < 1 << 60 }.min()
  }

  /// Returns the number of processors that a quota allows, rounded up; `nil` if there is no limit.
  ///
  /// - Parameter text: The content of `cpu.max`: the processor time per period, or `max`, and the length of a period,
  ///   both in microseconds.
  static func processorCount(quota text: String) -> Int? {
    let words = text.split { $0 == " " || $0 == "\n" }
    guard words.count == 2, let quota = Int(words[0]), let period = Int(words[1]), quota > 0, period > 0 else {
      return nil
    }
    return max(1, quota / period + (quota % period > 0 ? 1 : 0))
  }

  /// Returns the contents of a file in the group of the process and in all its parent groups, because each group may
  /// have a limit.
  ///
  /// - Parameter controller: A controller of version 1; `nil` for version 2.
  private func contents(_ file: String, controller: String?) -> [String] {
    mountPoints(of: controller).flatMap { directory in
      ControlGroups.groups(of: membership, controller: controller)
        .compactMap { try? InputFile.read("\(root)\(directory)\($0)/\(file)") }
    }
  }

  /// Returns the directories, relative to `root`, in which a hierarchy may be mounted.
  ///
  /// - Parameter controller: A controller of version 1; `nil` for version 2, which is mounted at the root or, together
  ///   with version 1, in `unified`.
  private func mountPoints(of controller: String?) -> [String] {
    guard let controller else { return ["", "/unified"] }
    // Controllers may share a hierarchy, for example in the directory `cpu,cpuacct`. Then `cpu` is a link, or is
    // missing.
    let shared = ControlGroups.hierarchies(of: membership)
      .filter { $0.controllers.count > 1 && $0.controllers.contains(Substring(controller)) }
      .map { "/" + $0.controllers.joined(separator: ",") }
    return ["/" + controller] + shared
  }

  /// Returns the paths of the group of the process and of its parent groups in a hierarchy. The first is the root,
  /// whose path is empty. In a container, the process is usually in the root group.
  ///
  /// - Parameter controller: A controller of version 1; `nil` for the hierarchy of version 2.
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

  /// Parses lines of the form `ID:CONTROLLERS:PATH`. The line of version 2 has an empty list of controllers.
  private static func hierarchies(of membership: String) -> [(controllers: [Substring], path: Substring)] {
    membership.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { return nil }
      return (parts[1].split(separator: ","), parts[2])
    }
  }
}
