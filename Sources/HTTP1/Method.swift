/// The request methods that the proxy distinguishes (RFC 9110, section 9, and RFC 5789). All others are `other`.
public enum Method: UInt8, Sendable {
  case get
  case head
  case post
  case put
  case delete
  case patch
  case options
  case trace
  case connect
  case other

  /// Parses a method, which is case-sensitive.
  public init(_ name: String) {
    self.init(name.utf8.span, 0..<name.utf8.count)
  }

  /// Parses a method, which is case-sensitive. All bytes are compared at once, as one number.
  init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
    guard range.count <= 7 else {
      self = .other
      return
    }
    var word: UInt64 = 0
    for position in range { word = word << 8 | UInt64(bytes[position]) }
    switch word {
    case 0x47_4554: self = .get
    case 0x4845_4144: self = .head
    case 0x504f_5354: self = .post
    case 0x50_5554: self = .put
    case 0x4445_4c45_5445: self = .delete
    case 0x50_4154_4348: self = .patch
    case 0x4f_5054_494f_4e53: self = .options
    case 0x54_5241_4345: self = .trace
    case 0x43_4f4e_4e45_4354: self = .connect
    default: self = .other
    }
  }

  /// True if a request may be sent again although the server may have processed it already (RFC 9110, section 9.2.2).
  /// False also for TRACE, which the gateway refuses.
  public var isIdempotent: Bool {
    switch self {
    case .get, .head, .put, .delete, .options: true
    case .post, .patch, .trace, .connect, .other: false
    }
  }

  /// True if the method does not request a change of state on the server (RFC 9110, section 9.2.1).
  public var isSafe: Bool {
    switch self {
    case .get, .head, .options, .trace: true
    case .post, .put, .delete, .patch, .connect, .other: false
    }
  }

  /// True if servers can be expected to read the content of a request with this method. If a request with another
  /// method has content, a server may ignore the content and then parse it as the next request.
  ///
  /// GET, HEAD, DELETE and OPTIONS define no meaning for content (RFC 9110, section 9.3). PROPFIND, REPORT, SEARCH and
  /// QUERY do, but a server that does not know such a method, or handles it as GET, often leaves the content unread.
  /// The same holds for all other methods, and for spellings such as `get`, because some servers ignore the case.
  public var serversReadContent: Bool {
    switch self {
    case .post, .put, .patch: true
    case .get, .head, .delete, .options, .trace, .connect, .other: false
    }
  }
}
