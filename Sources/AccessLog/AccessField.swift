/// A part of a line of the access log, in the order of the line.
public enum AccessField: UInt8, Sendable, CaseIterable {
  case time
  case request
  case trace
  case peer
  case listener
  case protocolName
  case tls
  case method
  case host
  case path
  case query
  case status
  case reason
  case bytesIn
  case bytesOut
  case duration
  case upstream
  case upstreamConnect
  case upstreamFirstByte
  case referer
  case userAgent
}

/// A set of fields.
public struct AccessFields: Sendable, Equatable {
  private var bits: UInt32 = 0

  /// Creates the set of these fields.
  public init(_ fields: some Sequence<AccessField>) {
    for field in fields { bits |= 1 << UInt32(field.rawValue) }
  }

  /// Returns true if the set has the field.
  public func contains(_ field: AccessField) -> Bool { bits >> UInt32(field.rawValue) & 1 == 1 }
}
