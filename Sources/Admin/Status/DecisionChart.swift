import Markup
import Time

/// The decisions of the latest minutes as a chart of stacked bars, one for each minute.
///
/// The image has no text, because it is stretched to the width of the window. The texts around it are HTML.
struct DecisionChart {
  private typealias Outcomes = StatusReport.Outcomes

  /// The width of a minute and of the space between two bars, and the height of the image, in units of the image.
  private static let (step, space, height) = (6, 1, 1_000)

  private let bars: [Outcomes]
  /// The number at the top of the chart.
  let maximum: UInt64

  init(_ report: StatusReport) {
    let last = report.time.time.seconds / 60
    let first = last - Int64(report.decisions.recentMinutes) + 1
    var bars = [Outcomes](repeating: Outcomes(), count: report.decisions.recentMinutes)
    for minute in report.decisions.minutes {
      let index = Int(minute.start.time.seconds / 60 - first)
      if bars.indices.contains(index) { bars[index] = minute.outcomes }
    }
    self.bars = bars
    maximum = DecisionChart.roundUp(bars.map(\.total).max() ?? 0)
  }

  /// Returns the next number of the form 1, 2, 4, 6 or 8 times a power of ten, and at least 4, so that a half is whole.
  private static func roundUp(_ value: UInt64) -> UInt64 {
    var scale: UInt64 = 1
    while value > scale * 8, scale < .max / 80 { scale *= 10 }
    // A digit of 1 needs a half that is whole, which only a larger scale has.
    for digit: UInt64 in [1, 2, 4, 6, 8] where digit * scale >= max(value, 4) && digit * scale % 2 == 0 {
      return digit * scale
    }
    return scale * 8
  }

  /// The image.
  ///
  /// - Parameter label: The text for readers that do not see the image.
  func svg(label: String) -> HTML {
    let layers: [(style: String, count: KeyPath<Outcomes, UInt64>)] = [
      ("passed", \.passed), ("unjudged", \.notObservable), ("would", \.wouldRefuse), ("refused", \.refused),
    ]
    var tops = [UInt64](repeating: 0, count: bars.count)
    let paths: [HTML] = layers.map { style, count in
      var path = ""
      for (index, bar) in bars.enumerated() where bar[keyPath: count] > 0 {
        let bottom = position(tops[index])
        tops[index] += bar[keyPath: count]
        // Each outcome is visible, even if it is one of many thousands.
        let top = min(position(tops[index]), bottom - 12)
        let width = DecisionChart.step - DecisionChart.space
        path += "M\(index * DecisionChart.step) \(bottom)h\(width)V\(top)h-\(width)z"
      }
      return "<path class=\"\(style)\" d=\"\(path)\"/>\n"
    }
    let width = bars.count * DecisionChart.step
    let grid = "M0 0H\(width)M0 \(DecisionChart.height / 2)H\(width)M0 \(DecisionChart.height)H\(width)"
    return """
      <svg class="chart" viewBox="0 0 \(width) \(DecisionChart.height)" preserveAspectRatio="none" role="img" \
      aria-label="\(label)">
      <path class="grid" d="\(grid)"/>
      \(paths)</svg>

      """
  }

  private func position(_ value: UInt64) -> Int {
    DecisionChart.height - Int(Double(value) / Double(maximum) * Double(DecisionChart.height))
  }
}
