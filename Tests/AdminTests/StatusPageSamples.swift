import FoundationEssentials
import Policy
import Telemetry
import Testing
import Time

@testable import Admin

/// The status page in each of its states.
@Suite("Samples of the status page")
struct StatusPageSamples {
  private static func all() throws -> [(name: String, report: StatusReport)] {
    let empty = try StatusSample()
    let large = try StatusSample((0..<400).map { ("client-\($0)", $0 % 2 == 0 ? .observe : .enforce) })
    for number in 0..<300 {
      large.decide(
        number % 5 == 0 ? .wouldReject : .forward, client: "client-\(number)",
        rule: number % 5 == 0 ? "rule-\(number % 20)" : nil)
    }
    large.status.beginDraining()
    return [
      ("status", try StatusSample.busy().report()), ("status-empty", empty.report()),
      (
        "status-refused-reload",
        try StatusSample.troubled().report(upstreamProblem: "https://legacy.example.com cannot be reached: refused")
      ),
      ("status-many-clients", large.report()),
    ]
  }

  /// Writes each sample to the directory in `PROOFGATE_WRITE_PAGES`, for a look in a browser.
  @Test("The status page is written to files on request")
  func write() throws {
    for (name, report) in try StatusPageSamples.all() {
      for language in StatusLanguage.all {
        let html = StatusSample.html(report, language)
        #expect(html.hasPrefix("<!doctype html>\n<html lang=\"\(language.tag)\"") && html.hasSuffix("</html>\n"))
        guard let directory = ProcessInfo.processInfo.environment["PROOFGATE_WRITE_PAGES"] else { continue }
        try html.write(toFile: "\(directory)/\(language.tag)-\(name).html", atomically: true, encoding: .utf8)
      }
    }
  }
}
