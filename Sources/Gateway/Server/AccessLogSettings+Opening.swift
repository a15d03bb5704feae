public import AccessLog
public import Policy
public import Reactor

extension AccessLogSettings {
  /// Opens the destination of the log. Throws if it cannot be written, or if no syslog server receives at the socket.
  public func open() throws(IOError) -> AccessLogOutput {
    switch destination {
    case .standardOutput: try AccessLogOutput(.standardOutput)
    case .file(let path): try AccessLogOutput(.file(path))
    case .syslog(let syslog):
      try AccessLogOutput(
        .datagramSocket(syslog.path),
        syslog: AccessLogOutput.Syslog(
          priority: syslog.priority, host: ProcessControl.hostName, process: ProcessControl.identifier))
    }
  }

  /// The form of the lines, and the requests that have one.
  var lineFormat: AccessLogFormat {
    switch format {
    case .json: AccessLogFormat(.json(AccessFields(fields.map(\.field))), sample: sample)
    case .combined: AccessLogFormat(.combined, sample: sample)
    }
  }
}

extension AccessLogField {
  fileprivate var field: AccessField {
    switch self {
    case .time: .time
    case .request: .request
    case .trace: .trace
    case .peer: .peer
    case .listener: .listener
    case .protocol: .protocolName
    case .tls: .tls
    case .method: .method
    case .host: .host
    case .path: .path
    case .query: .query
    case .status: .status
    case .reason: .reason
    case .bytesIn: .bytesIn
    case .bytesOut: .bytesOut
    case .duration: .duration
    case .upstream: .upstream
    case .upstreamConnect: .upstreamConnect
    case .upstreamFirstByte: .upstreamFirstByte
    case .referer: .referer
    case .userAgent: .userAgent
    }
  }
}

extension GatewayResources {
  /// Returns the access log of a worker under this policy; `nil` if it is off.
  func accessChannel(worker: Int, _ policy: Policy) -> AccessChannel? {
    policy.gateway.accessLog.flatMap { accessLog.channel(worker: worker, $0.lineFormat) }
  }
}
