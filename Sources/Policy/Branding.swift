/// The operator's part of the gateway's pages (`gateway.branding`).
public struct Branding: Sendable {
  /// An image that each page contains.
  public struct Logo: Sendable, Equatable {
    /// The greatest size of the file, in bytes. Each page contains the logo.
    public static let maximumSize = 32 << 10

    /// The media type, `image/png` or `image/svg+xml`.
    public var type: String
    /// The content of the file.
    public var content: [UInt8]

    /// Creates a logo.
    public init(type: String, content: [UInt8]) {
      self.type = type
      self.content = content
    }
  }

  /// The name of the operator; `nil` if the pages show none.
  public var name: String?
  /// The address of the help page: an https URL, or a path on the gateway's origin; `nil` if the pages have no link to
  /// one.
  public var supportURL: String?
  /// The logo; `nil` if the pages show none.
  public var logo: Logo?
  /// The color of buttons, links and the name; `nil` for the color of the gateway.
  public var color: PageColor?
  /// The same color for browsers in dark mode; `nil` if it is derived from `color`.
  public var darkColor: PageColor?
  /// The texts that replace those of the program, or add a language.
  public var texts: [PageTexts] = []
  /// The language for browsers that accept none of the languages of the pages, as a tag of RFC 5646.
  public var defaultLanguage = "en"

  /// Creates branding, by default without a name and a help page.
  public init(name: String? = nil, supportURL: String? = nil) {
    self.name = name
    self.supportURL = supportURL
  }

  /// The settings of `branding:`.
  public static let table = SettingTable<Branding>(
    "branding", "The operator's name, help page, logo, color and texts on the gateway's pages.",
    [
      .text("name", \.name, "The operator's name", default: "none"),
      .customReader(
        "support_url", .text("https URL, or a path on the gateway's origin", pattern: "^(https://.+|/([^/].*)?)$"),
        "The page where users find help", default: "none"),
      .customReader(
        "logo", .text("file name"),
        "PNG or SVG file of at most 32 KiB, without scripts and references; screen readers read `name` in its place",
        default: "none"),
      .customReader(
        "color", .text("`#rrggbb`", pattern: "^#[0-9a-fA-F]{6}$"),
        "The color of buttons and links; its contrast to the page must be at least 4.5 (WCAG 2.2, criterion 1.4.3)",
        default: "green"),
      .customReader(
        "dark_color", .text("`#rrggbb`", pattern: "^#[0-9a-fA-F]{6}$"), "The same color in dark mode",
        default: "`color`, made lighter until it can be read"),
      .customReader(
        "texts", .list(.text("file names"), allowsSingleValue: true),
        """
        JSON or YAML files with texts of the pages; the name of each is that of its language, such as `fr.json`; see \
        [below](#texts-of-the-pages)
        """,
        default: "none"),
      .customReader(
        "default_language", .text("language tag", pattern: "^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$"),
        "The language for browsers that accept no language of the pages", default: "`en`"),
    ]
  ) { Branding() }
}
