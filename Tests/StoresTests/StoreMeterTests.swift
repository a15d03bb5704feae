import OAuth
import Stores
import Testing

@Suite("The meter of a store")
struct StoreMeterTests {
  @Test("Operations are counted by their duration, and failures by their reason")
  func counts() {
    let meter = StoreMeter(engine: "file")
    for nanoseconds: UInt64 in [1, 100_000, 100_001, 400_000_000_000] { meter.observe(nanoseconds: nanoseconds) }
    meter.failed(.timeout)
    let activity = meter.activity(epoch: EpochID(rawValue: 7))
    #expect(activity.durations.count == StoreActivity.bounds.count + 1)
    #expect(activity.durations.first == 2)
    #expect(activity.durations[1] == 1)
    #expect(activity.durations.last == 1)
    #expect(activity.nanoseconds == 400_000_200_002)
    #expect(activity.failures == [.timeout: 1, .unavailable: 0, .misconfigured: 0])
    #expect(activity.epoch == 7)
  }

  @Test("The begin and the end of an outage are changes, and another reason is not")
  func outages() {
    let meter = StoreMeter(engine: "file")
    #expect(!meter.setOutage(nil))
    #expect(meter.setOutage("the disk is full"))
    #expect(!meter.setOutage("the disk is gone"))
    #expect(meter.activity(epoch: .none).outage == "the disk is gone")
    #expect(meter.setOutage(nil))
  }
}
