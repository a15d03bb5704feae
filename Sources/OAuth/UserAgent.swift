internal import Bytes

/// Detection of embedded browsers by the `User-Agent` value (RFC 8252, section 8.12).
///
/// Advisory only: an app can send any string (section 8.7), and in-app browser tabs send the string of the browser, so
/// neither result is a proof. The rules look for the tokens that web views and known apps add to the browser's string.
/// A string that a plain browser could also send is never called embedded.
public enum UserAgent {
  /// True if embedded user agents send this string.
  ///
  /// - Parameter usesBroker: True if the redirect URI is `msapp://`, for which the Windows Web Authentication Broker is
  ///   an external user agent (appendix B.3).
  public static func looksEmbedded(_ text: String, usesBroker: Bool = false) -> Bool {
    let whole = text.utf8.span
    let agent = whole.extracting(0..<min(whole.count, limit))
    guard !agent.isEmpty else { return false }
    if agent.contains("MSAuthHost/") { return !usesBroker }
    guard !isCrawler(agent) else { return false }
    for token in appTokens where agent.contains(token) { return true }
    return looksLikeAndroidWebView(agent) || looksLikeAppleWebView(agent)
  }

  /// The maximum number of bytes to search, once for each of about thirty tokens: no browser or app sends more.
  private static let limit = 1_024

  /// Tokens that apps and embedding frameworks add.
  private static let appTokens = [
    "; wv)", "WebView/3.0", "BytedanceWebview/", "WKWebView/", "FB_IAB/", "FBAN/", "FBAV/", "Instagram ",
    "TwitterAndroid", "Twitter for iPhone", " Line/", "KAKAOTALK/", "Telegram-Android/", "musical_ly_", "trill_",
    "GSA/", "MicroMessenger/", "LinkedInApp", "Snapchat/", "[Pinterest/", "Electron/", "QtWebEngine/",
  ]

  private static func isCrawler(_ agent: Span<UInt8>) -> Bool {
    agent.contains("compatible;") && agent.contains("bot") || agent.starts(with: "Slackbot".utf8.span)
      || agent.starts(with: "WhatsApp/".utf8.span)
  }

  /// The web view of Android 4.4 (KitKat) has no `wv` token yet, only `Version/4.0` before Chrome 30 or 33 with zeros
  /// as the rest of the version.
  private static func looksLikeAndroidWebView(_ agent: Span<UInt8>) -> Bool {
    guard agent.contains("Android 4.4") else { return false }
    return agent.contains("Version/4.0 Chrome/30.0.0.0") || agent.contains("Version/4.0 Chrome/33.0.0.0")
  }

  /// WebKit on Apple systems names Safari or another browser, except in an app's web view.
  private static func looksLikeAppleWebView(_ agent: Span<UInt8>) -> Bool {
    let isApples =
      agent.contains("(iPhone") || agent.contains("(iPad") || agent.contains("(iPod") || agent.contains("(Macintosh")
    guard isApples, agent.contains("AppleWebKit/") else { return false }
    return !agent.contains("Safari/") && !agent.contains("Chrome/")
  }
}
