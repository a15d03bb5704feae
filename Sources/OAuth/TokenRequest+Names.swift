internal import ByteText

extension TokenRequest {
  /// The users of all `Authorization` fields that some server may read as HTTP Basic. A user that cannot be
  /// form-decoded is unchanged.
  public var usersInAuthorization: [String] { authorization.compactMap { TokenRequest.user(in: $0.reveal()) } }

  private static func user(in header: String) -> String? {
    let parts = header.split(whereSeparator: { $0 == " " || $0 == "\t" })
    guard parts.count == 2, parts[0].lowercased() == "basic" else { return nil }
    let user = Array(LenientBase64.decode(parts[1].utf8).prefix { $0 != UInt8(ascii: ":") })
    return FormEncoding.decode(user.span) ?? String(decoding: user, as: UTF8.self)
  }
}
