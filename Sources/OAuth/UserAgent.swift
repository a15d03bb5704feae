/// What a `User-Agent` value gives away about embedded browsers (RFC 8252, section 8.12).
///
/// Advisory: an app can send any string (section 8.7), in-app browser tabs send the browser's own, and so neither answer
/// proves anything. The rules look for what web views and known apps add to the browser's string; what could as well
/// be a plain browser is never called embedded.
public enum UserAgent {
  /// Whether the string is one that embedded user agents send.
  ///
  /// - Parameter usesBroker: Whether the redirect URI is `msapp://`, with which the Windows Web Authentication Broker is
  ///   an external user agent (appendix B.3).
  public static func looksEmbedded(_ text: String, usesBroker: Bool = false) -> Bool {
    let agent = Array(text.utf8.prefix(limit))
    if has(agent, "MSAuthHost/") { return !usesBroker }
    guard !isCrawler(agent) else { return false }
    if appTokens.contains(where: { has(agent, $0) }) { return true }
    return looksLikeAndroidWebView(agent) || looksLikeAppleWebView(agent)
  }

  /// Bytes that are searched, for some thirty tokens each: no browser or app sends as many.
  private static let limit = 1_024

  /// Tokens that apps and embedding frameworks add.
  private static let appTokens = [
    "; wv)", "WebView/3.0", "BytedanceWebview/", "WKWebView/", "FB_IAB/", "FBAN/", "FBAV/", "Instagram ",
    "TwitterAndroid", "Twitter for iPhone", " Line/", "KAKAOTALK/", "Telegram-Android/", "musical_ly_", "trill_",
    "GSA/", "MicroMessenger/", "LinkedInApp", "Snapchat/", "[Pinterest/", "Electron/", "QtWebEngine/",
  ]

  private static func isCrawler(_ agent: [UInt8]) -> Bool {
    has(agent, "compatible;") && has(agent, "bot") || agent.starts(with: "Slackbot".utf8)
      || agent.starts(with: "WhatsApp/".utf8)
  }

  /// KitKat's web view has no `wv` yet, only `Version/4.0` before Chrome 30 or 33 with zeros behind.
  private static func looksLikeAndroidWebView(_ agent: [UInt8]) -> Bool {
    guard has(agent, "Android 4.4") else { return false }
    return has(agent, "Version/4.0 Chrome/30.0.0.0") || has(agent, "Version/4.0 Chrome/33.0.0.0")
  }

  /// WebKit on Apple's systems names Safari, or another browser, unless an app shows the page.
  private static func looksLikeAppleWebView(_ agent: [UInt8]) -> Bool {
    guard has(agent, "AppleWebKit/"), ["(iPhone", "(iPad", "(iPod", "(Macintosh"].contains(where: { has(agent, $0) })
    else { return false }
    return !has(agent, "Safari/") && !has(agent, "Chrome/")
  }

  private static func has(_ agent: [UInt8], _ token: String) -> Bool {
    let token = Array(token.utf8)
    guard agent.count >= token.count else { return false }
    return (0...(agent.count - token.count)).contains { agent[$0...].starts(with: token) }
  }
}
