internal import ByteText

/// Detects embedded browsers by the value of `User-Agent` (RFC 8252, section 8.12).
///
/// The result is not certain, because an app can send any text (section 8.7). The search is for the tokens that web
/// views and known apps add to the text of the browser. A text that a browser itself may send, such as that of an
/// in-app browser tab, does not count as embedded.
public enum UserAgent {
  /// Returns true if the text looks like that of an embedded user agent.
  ///
  /// - Parameters:
  ///   - text: The value of `User-Agent`; empty if there is none.
  ///   - usesBroker: True if the redirect URI is that of the Windows Web Authentication Broker. The broker then counts
  ///     as an external user agent (appendix B.3).
  public static func looksEmbedded(_ text: String, usesBroker: Bool = false) -> Bool {
    let bytes = text.utf8.span
    let agent = bytes.extracting(0..<min(bytes.count, maximumSearchedLength))
    guard !agent.isEmpty else { return false }
    if agent.contains("MSAuthHost/") { return !usesBroker }
    guard !isCrawler(agent) else { return false }
    for token in appTokens where agent.contains(token) { return true }
    return looksLikeAndroidWebView(agent) || looksLikeAppleWebView(agent)
  }

  /// The maximum number of bytes that are searched, once for each of about thirty tokens. No browser or app sends more.
  private static let maximumSearchedLength = 1_024

  /// The tokens that apps and embedding frameworks add.
  private static let appTokens = [
    "; wv)", "WebView/3.0", "BytedanceWebview/", "WKWebView/", "FB_IAB/", "FBAN/", "FBAV/", "Instagram ",
    "TwitterAndroid", "Twitter for iPhone", " Line/", "KAKAOTALK/", "Telegram-Android/", "musical_ly_", "trill_",
    "GSA/", "MicroMessenger/", "LinkedInApp", "Snapchat/", "[Pinterest/", "Electron/", "QtWebEngine/",
  ]

  /// True for a program that fetches a page for a search engine or a link preview. It shows no sign-in page to a user,
  /// so it does not count as embedded.
  private static func isCrawler(_ agent: Span<UInt8>) -> Bool {
    agent.contains("compatible;") && agent.contains("bot") || agent.starts(with: "Slackbot".utf8.span)
      || agent.starts(with: "WhatsApp/".utf8.span)
  }

  /// True for the web view of Android 4.4 (KitKat). It has no `wv` token, but `Version/4.0` in front of Chrome 30 or 33
  /// with zeros as the rest of the version.
  private static func looksLikeAndroidWebView(_ agent: Span<UInt8>) -> Bool {
    guard agent.contains("Android 4.4") else { return false }
    return agent.contains("Version/4.0 Chrome/30.0.0.0") || agent.contains("Version/4.0 Chrome/33.0.0.0")
  }

  /// True for an app's web view on an Apple system. In a browser, WebKit also sends `Safari` or `Chrome`.
  private static func looksLikeAppleWebView(_ agent: Span<UInt8>) -> Bool {
    let isAppleSystem =
      agent.contains("(iPhone") || agent.contains("(iPad") || agent.contains("(iPod") || agent.contains("(Macintosh")
    guard isAppleSystem, agent.contains("AppleWebKit/") else { return false }
    return !agent.contains("Safari/") && !agent.contains("Chrome/")
  }
}
