/// The content of the access log: the form of a line, and the requests that have one.
public final class AccessLogFormat: Sendable {
  /// The form of a line.
  public enum Form: Sendable, Equatable {
    /// A JSON object with these fields.
    case json(AccessFields)
    /// The combined format of Apache and nginx.
    case combined
  }

  /// The form of a line.
  public let form: Form
  /// One of so many requests has a line; 1 for all.
  public let sample: Int
  /// Numbers below this limit are those of requests with a line.
  private let limit: UInt64

  /// Creates a format.
  public init(_ form: Form, sample: Int = 1) {
    self.form = form
    self.sample = sample
    limit = UInt64.max / UInt64(clamping: max(1, sample))
  }

  /// Returns true if the request with this number of a worker has a line.
  ///
  /// The multiples of this odd number, which is 2^64 divided by the golden ratio, are spread evenly over all numbers of
  /// 64 bits. So requests that follow one another in a pattern, for example a page and its picture, are chosen with
  /// equal frequency.
  public func includes(request number: UInt64) -> Bool {
    sample == 1 || number &* 0x9e37_79b9_7f4a_7c15 < limit
  }

  /// Returns true if lines have the field.
  public func has(_ field: AccessField) -> Bool {
    switch form {
    case .json(let fields): fields.contains(field)
    case .combined:
      switch field {
      case .time, .peer, .protocolName, .method, .path, .query, .status, .bytesOut, .referer, .userAgent: true
      case .request, .trace, .listener, .tls, .host, .reason, .bytesIn, .duration, .upstream, .upstreamConnect,
        .upstreamFirstByte:
        false
      }
    }
  }
}
