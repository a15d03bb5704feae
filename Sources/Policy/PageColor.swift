/// A color of the gateway's pages, in sRGB.
public struct PageColor: Sendable, Equatable {
  /// The contrast of text that is not large (WCAG 2.2, success criterion 1.4.3), in hundredths.
  public static let minimumContrast = 450
  /// The background of a page with the lowest contrast to a dark color: that of boxes in light mode.
  public static let lightBackground = PageColor(red: 0xf1, green: 0xef, blue: 0xea)
  /// The background of a page with the lowest contrast to a light color: that of boxes in dark mode.
  public static let darkBackground = PageColor(red: 0x21, green: 0x25, blue: 0x24)
  /// White.
  public static let white = PageColor(red: 0xff, green: 0xff, blue: 0xff)
  /// Black.
  public static let black = PageColor(red: 0, green: 0, blue: 0)

  private var red: UInt8
  private var green: UInt8
  private var blue: UInt8

  /// Creates a color from its components.
  public init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// Reads `#rrggbb`; `nil` for any other text.
  public init?(parsing text: String) {
    guard text.utf8.count == 7, text.hasPrefix("#"), let value = UInt32(text.dropFirst(), radix: 16),
      text.dropFirst().first != "+"
    else { return nil }
    self.init(
      red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
      blue: UInt8(truncatingIfNeeded: value))
  }

  /// The notation of CSS, `#rrggbb`.
  public var text: String {
    let value = UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
    return "#" + String(value | 0x100_0000, radix: 16).dropFirst()
  }

  /// Returns the contrast ratio of two colors (WCAG 2.2, definition of contrast ratio), in hundredths, rounded down:
  /// 100 to 2,100.
  public func contrast(to other: PageColor) -> Int {
    let (lighter, darker) = (max(luminance, other.luminance), min(luminance, other.luminance))
    return Int((lighter + 0.05) / (darker + 0.05) * 100)
  }

  /// Returns a color of which `percent` percent are `other`.
  public func mixed(with other: PageColor, percent: Int) -> PageColor {
    func mix(_ own: UInt8, _ other: UInt8) -> UInt8 {
      UInt8((Int(own) * (100 - percent) + Int(other) * percent) / 100)
    }
    return PageColor(red: mix(red, other.red), green: mix(green, other.green), blue: mix(blue, other.blue))
  }

  /// The color, made lighter until it can be read on the background of dark mode.
  public var readableInDarkMode: PageColor {
    let steps = stride(from: 0, through: 100, by: 5).lazy.map { mixed(with: .white, percent: $0) }
    return steps.first { $0.contrast(to: .darkBackground) >= PageColor.minimumContrast } ?? .white
  }

  /// The relative luminance (WCAG 2.2, definition of relative luminance).
  private var luminance: Double {
    0.2126 * PageColor.linear(red) + 0.7152 * PageColor.linear(green) + 0.0722 * PageColor.linear(blue)
  }

  /// Returns the linear value of a component, from 0 to 1.
  private static func linear(_ component: UInt8) -> Double {
    let value = Double(component) / 255
    guard value > 0.04045 else { return value / 12.92 }
    // The power of 2.4 is the twelfth power of the fifth root, which Newton's method finds in a few steps.
    let base = (value + 0.055) / 1.055
    var root = 1.0
    for _ in 0..<16 { root = (4 * root + base / (root * root * root * root)) / 5 }
    let cube = root * root * root
    return cube * cube * cube * cube
  }
}
