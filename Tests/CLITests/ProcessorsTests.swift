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
    #expect(Processors.count(quota: text) == count)
  }

  @Test(
    "No quota, and what is none, limits nothing", arguments: ["max 100000\n", "", "100000", "0 100000", "a b", "1 0"])
  func unlimited(_ text: String) {
    #expect(Processors.count(quota: text) == nil)
  }

  @Test("The quotas of a group's parents count too")
  func groups() {
    #expect(
      Processors.groups(of: "0::/system.slice/proofgate.service\n")
        == ["", "/system.slice", "/system.slice/proofgate.service"])
    #expect(Processors.groups(of: "0::/\n") == [""])
    #expect(Processors.groups(of: "12:cpu:/docker/abc\n0::/../x\n") == ["", "/x"])
    #expect(Processors.groups(of: "") == [""])
  }

  @Test("There is at least one")
  func atLeastOne() {
    #expect(Processors.usable >= 1)
  }
}
