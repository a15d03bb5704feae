import ByteText
import OAuth

/// The request of a `curl` command line. Options that do not change the request are ignored, and unknown ones are
/// refused, because the request would be another one.
struct CurlCommand {
  private var method: String?
  private var url: String?
  private var data: [String] = []
  private var fields: [TriedRequest.Field] = []
  private var sendsDataInQuery = false
  private var isHead = false

  /// The options without a value that do not change the request.
  private static let ignoredFlags: Set<String> = [
    "-s", "--silent", "-S", "--show-error", "-v", "--verbose", "-i", "--include", "--show-headers", "-k", "--insecure",
    "-L", "--location", "-f", "--fail", "--fail-with-body", "-g", "--globoff", "--compressed", "--http1.1", "--http2",
    "-N", "--no-buffer", "-#", "--progress-bar", "-O", "--remote-name", "-4", "-6", "--path-as-is",
  ]
  /// The options with a value that do not change the request.
  private static let ignoredOptions: Set<String> = [
    "-o", "--output", "-m", "--max-time", "--connect-timeout", "-w", "--write-out", "--resolve", "--connect-to",
    "--cacert", "-D", "--dump-header", "-c", "--cookie-jar", "-b", "--cookie", "-e", "--referer", "--max-redirs",
    "--retry", "-x", "--proxy", "--noproxy",
  ]
  /// The names of the options with a value that change the request.
  private static let options: [String: String] = [
    "-X": "--request", "-d": "--data", "--data-ascii": "--data", "--data-binary": "--data", "-H": "--header",
    "-u": "--user", "-A": "--user-agent",
  ]

  init(_ text: String) throws(RequestTextError) {
    var words = try ShellWords.split(text)[...]
    words.removeFirst()
    while let word = words.popFirst() {
      guard word.hasPrefix("-"), word.count > 1 else {
        try setURL(word)
        continue
      }
      try read(word, &words)
    }
  }

  /// Reads one option, or a group of short ones such as `-sSd`.
  private mutating func read(_ word: String, _ words: inout ArraySlice<String>) throws(RequestTextError) {
    if Self.ignoredFlags.contains(word) { return }
    switch word {
    case "--get": sendsDataInQuery = true
    case "--head": isHead = true
    case _ where word.hasPrefix("--"):
      let parts = word.split(separator: "=", maxSplits: 1)
      let name = String(parts[0])
      guard isOption(name) else { throw Self.unknown(name) }
      try set(name, try parts.count == 2 ? String(parts[1]) : Self.value(of: name, &words))
    default: try readShort(word.dropFirst(), &words)
    }
  }

  /// Reads a group of short options; the first one with a value takes the rest of the group, or the next word.
  private mutating func readShort(
    _ letters: Substring, _ words: inout ArraySlice<String>
  ) throws(RequestTextError) {
    var letters = letters
    while let letter = letters.popFirst() {
      let name = "-\(letter)"
      if isOption(name) {
        try set(name, try letters.isEmpty ? Self.value(of: name, &words) : String(letters))
        return
      }
      switch name {
      case "-G": sendsDataInQuery = true
      case "-I": isHead = true
      default: guard Self.ignoredFlags.contains(name) else { throw Self.unknown(name) }
      }
    }
  }

  private func isOption(_ name: String) -> Bool {
    Self.ignoredOptions.contains(name) || Self.options[name] != nil || Self.options.values.contains(name)
      || ["--data-raw", "--data-urlencode", "--url"].contains(name)
  }

  private mutating func set(_ name: String, _ value: String) throws(RequestTextError) {
    switch Self.options[name] ?? name {
    case "--request": method = value
    case "--url": try setURL(value)
    case "--data":
      guard !value.hasPrefix("@") else { throw Self.fromFile(name) }
      data.append(value)
    case "--data-raw": data.append(value)
    case "--data-urlencode": data.append(try Self.encoded(value))
    case "--header":
      guard !value.hasPrefix("@") else { throw Self.fromFile(name) }
      guard let colon = value.firstIndex(of: ":") else { return }
      let content = value[value.index(after: colon)...].trimming(while: \.isWhitespace)
      fields.append(TriedRequest.Field(String(value[..<colon]), String(content)))
    case "--user":
      // curl sends both as they are, without the form encoding of RFC 6749, section 2.3.1.
      fields.append(TriedRequest.Field("Authorization", "Basic " + Base64.encode(Array(value.utf8))))
    case "--user-agent": fields.append(TriedRequest.Field("User-Agent", value))
    default: break
    }
  }

  private mutating func setURL(_ text: String) throws(RequestTextError) {
    guard url == nil else { throw RequestTextError("the curl command line has more than one URL") }
    url = text
  }

  /// Encodes the value of `--data-urlencode`: `content`, `=content` or `name=content`.
  private static func encoded(_ value: String) throws(RequestTextError) -> String {
    guard let equals = value.firstIndex(of: "=") else {
      guard !value.contains("@") else { throw fromFile("--data-urlencode") }
      return FormEncoding.encode(value)
    }
    let content = FormEncoding.encode(String(value[value.index(after: equals)...]))
    return equals == value.startIndex ? content : value[..<equals] + "=" + content
  }

  private static func value(of name: String, _ words: inout ArraySlice<String>) throws(RequestTextError) -> String {
    guard let value = words.popFirst() else { throw RequestTextError("the curl option `\(name)` has no value") }
    return value
  }

  private static func unknown(_ name: String) -> RequestTextError {
    RequestTextError("the curl option `\(name)` is not supported; write the request as an HTTP request in a file")
  }

  private static func fromFile(_ name: String) -> RequestTextError {
    RequestTextError("`\(name)` with a file is not supported; write the value itself")
  }

  /// The request that curl would send.
  var request: TriedRequest {
    get throws(RequestTextError) {
      guard let url else { throw RequestTextError("the curl command line has no URL") }
      let body = data.joined(separator: "&")
      let sendsBody = !data.isEmpty && !sendsDataInQuery
      var request = TriedRequest(method: method ?? (isHead ? "HEAD" : sendsBody ? "POST" : "GET"), path: "")
      try request.setTarget(url.hasPrefix("/") || url.prefix(8).contains("://") ? url : "http://" + url)
      request.fields = fields
      if sendsBody {
        request.body = Array(body.utf8)
        if request.all("Content-Type").isEmpty {
          request.fields.append(TriedRequest.Field("Content-Type", "application/x-www-form-urlencoded"))
        }
      } else if !data.isEmpty {
        request.query = [request.query, body].compactMap(\.self).joined(separator: "&")
      }
      if let host = request.all("Host").first { request.authority = host }
      return request
    }
  }
}
