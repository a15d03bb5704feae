import Testing
import Time

struct DurationTests {
  @Test("Seconds become milliseconds, and milliseconds become seconds without their fraction")
  func conversion() {
    #expect(Milliseconds(Seconds(90)) == 90_000)
    #expect(Seconds(Milliseconds(90_999)) == 90)
    #expect(Seconds(exactly: Milliseconds(90_000)) == 90)
    #expect(Seconds(exactly: Milliseconds(90_001)) == nil)
  }

  @Test("Durations of one unit are added, subtracted, compared and multiplied")
  func arithmetic() {
    var timeout: Milliseconds = 250
    timeout += 50
    #expect(timeout * 2 - 100 == 500)
    #expect(timeout / 7 == 42)
    #expect(timeout < 301)
    #expect(Seconds(600) + 60 * 2 - 20 == 700)
    #expect(Seconds(1) - 2 < 0)
  }

  @Test("A difference of times in the wrong order is 0, and calculations end at the limits of their type")
  func saturation() {
    let (early, late): (MonotonicTime, MonotonicTime) = (5, 9)
    #expect(late - early == 4 && early - late == 0)
    #expect(MonotonicTime(milliseconds: .max) - 0 == Milliseconds(.max))
    #expect(MonotonicTime(milliseconds: .max) + 1 == MonotonicTime(milliseconds: .max))
    #expect(late + Milliseconds(-4) == early && early + Milliseconds(.min) == 0)
    let (before, after): (MonotonicInstant, MonotonicInstant) = (5, 9)
    #expect(after - before == 4 && before - after == 0)
    #expect(MonotonicInstant(nanoseconds: .max) - 0 == Nanoseconds(.max))
    for (low, high) in [(Int64.min, Int64.max), (.min, 0), (-1, .max)] {
      #expect((UnixTime(seconds: low) - UnixTime(seconds: high)).count == low.saturatingDifference(high))
      #expect((UnixTime(seconds: high) - UnixTime(seconds: low)).count == .max)
      #expect((Timestamp(milliseconds: high) - Timestamp(milliseconds: low)).count == .max)
    }
    #expect(UnixTime(seconds: .max) + 1 == UnixTime(seconds: .max))
    #expect(Seconds(.max) + 1 == Seconds(.max) && Seconds(.min) - 1 == Seconds(.min))
    #expect(Milliseconds(.max) + 1 == Milliseconds(.max) && Milliseconds(.min) - 1 == Milliseconds(.min))
    #expect(Seconds(.max) * 2 == Seconds(.max) && Milliseconds(.min) * 2 == Milliseconds(.min))
    #expect(Milliseconds(Seconds(.max)) == Milliseconds(.max))
  }

  @Test("A rate and a duration give an amount, and a rate and an amount give a duration")
  func rates() {
    #expect(Milliseconds(20_000).amount(perSecond: 500) == 10_000)
    #expect(Milliseconds(1_999).amount(perSecond: 1) == 1)
    #expect(Milliseconds(for: 10_000, perSecond: 500) == 20_000)
  }

  @Test("A point in time moves by durations of its own unit, and two points give such a duration")
  func points() {
    var now: MonotonicTime = 1_000
    now += 500
    #expect(now + 30 == MonotonicTime(milliseconds: 1_530))
    #expect(now - 1_000 == Milliseconds(500))
    var expiry: UnixTime = 1_700_000_000
    expiry += 60
    #expect(expiry + 40 == UnixTime(seconds: 1_700_000_100))
    #expect(expiry - 1_700_000_100 == Seconds(-40))
    #expect(Timestamp(milliseconds: 2_500) - 1_000 == Milliseconds(1_500))
  }
}
