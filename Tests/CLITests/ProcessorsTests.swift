import Foundation
import Testing

@testable import proofgate

@Suite("Usable processors")
struct ProcessorsTests {
  @Test(
    "A control group's quota counts as whole processors, rounded up",
    arguments: [
      ("100000 100000\n", 1), ("150000 100000\n", 2), ("200000 100000", 2), ("1000 100000\n", 1), ("400000 50000\n", 8),
    ])
  func quota(_ text: String, _ count: Int) {
    #expect(ControlGroups.processorCount(quota: text) == count)
  }

  @Test(
    "A missing or malformed quota sets no limit", arguments: ["max 100000\n", "", "100000", "0 100000", "a b", "1 0"])
  func unlimited(_ text: String) {
    #expect(ControlGroups.processorCount(quota: text) == nil)
  }

  @Test("The quotas of a group's parents count too")
  func groups() {
    func groups(_ text: String, _ controller: String? = nil) -> [String] {
      ControlGroups.groups(of: text, controller: controller)
    }
    #expect(
      groups("0::/system.slice/proofgate.service\n") == ["", "/system.slice", "/system.slice/proofgate.service"])
    #expect(groups("0::/\n") == [""])
    #expect(groups("12:cpu:/docker/abc\n0::/../x\n") == ["", "/x"])
    #expect(groups("12:cpu,cpuacct:/docker/abc\n0::/../x\n", "cpu") == ["", "/docker", "/docker/abc"])
    #expect(groups("12:cpuset:/docker/abc\n", "cpu") == [""])
    #expect(groups("") == [""])
  }

  /// The limits of control groups that have these files below the mount point.
  private static func allowed(_ membership: String, _ files: [String: String]) throws -> (Int?, Int?) {
    let folder = try Folder()
    for (name, text) in files {
      let path = folder.url.appendingPathComponent(name)
      try FileManager.default.createDirectory(at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
      try folder.write(name, text)
    }
    let groups = ControlGroups(root: folder.url.path, membership: membership)
    return (groups.processors, groups.memory)
  }

  @Test("Limits of both versions are read, and the smallest of a group and its parents applies")
  func limits() throws {
    let none = try Self.allowed("0::/\n", [:])
    #expect(none.0 == nil && none.1 == nil)
    let unified = try Self.allowed(
      "0::/a/b\n",
      [
        "cpu.max": "400000 100000\n", "a/cpu.max": "150000 100000\n", "a/b/cpu.max": "max 100000\n",
        "memory.max": "max\n", "a/memory.max": "268435456\n", "a/b/memory.max": "67108864\n",
      ])
    #expect(unified.0 == 2 && unified.1 == 67_108_864)
    let legacy = try Self.allowed(
      "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n",
      [
        "cpu,cpuacct/cpu.cfs_quota_us": "-1\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        "cpu,cpuacct/docker/abc/cpu.cfs_quota_us": "250000\n",
        "cpu,cpuacct/docker/abc/cpu.cfs_period_us": "100000\n",
        "memory/memory.limit_in_bytes": "9223372036854771712\n",
        "memory/docker/abc/memory.limit_in_bytes": "134217728\n",
      ])
    #expect(legacy.0 == 3 && legacy.1 == 134_217_728)
    let own = try Self.allowed(
      "1:cpu:/docker/elsewhere\n",
      ["cpu/cpu.cfs_quota_us": "100000\n", "cpu/cpu.cfs_period_us": "100000\n", "memory/memory.limit_in_bytes": "1\n"])
    #expect(own.0 == 1 && own.1 == 1)
  }

  @Test("The default for buffers is at most a quarter of the control group's memory limit, and the start names it")
  func bufferMemory() {
    let unlimited = BufferMemory(memoryLimit: nil, configuredValue: nil)
    #expect(unlimited.defaultValue == 256 << 20 && unlimited.note == nil)
    let roomy = BufferMemory(memoryLimit: 4 << 30, configuredValue: nil)
    #expect(roomy.defaultValue == 256 << 20 && roomy.note == nil)
    let small = BufferMemory(memoryLimit: 64 << 20, configuredValue: nil)
    #expect(small.defaultValue == 16 << 20 && !small.isWarning)
    #expect(small.note == "`max_buffer_memory` is 16 MiB, a quarter of the 64 MiB that the control group allows")
    let excessive = BufferMemory(memoryLimit: 128 << 20, configuredValue: 100 << 20)
    #expect(excessive.isWarning && excessive.note?.contains("100 MiB is more than half of the 128 MiB") == true)
    #expect(BufferMemory(memoryLimit: 128 << 20, configuredValue: 64 << 20).note == nil)
  }

  @Test("There is at least one usable processor")
  func atLeastOne() {
    #expect(Processors.usable >= 1)
  }
}
