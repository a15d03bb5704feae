import Policy
import YAML

extension PolicyReader {
  /// `limits:` of `gateway:`.
  func limits(_ field: Field) -> LimitSettings {
    var limits = LimitSettings()
    var targetNode: YAMLNode?
    fields(field.node, named: "limits", LimitKey.self) { key, field in
      switch key {
      // A head is kept in one buffer.
      case .headerBytes: set(&limits.headerBytes, size(field, 1_024...16_384))
      case .headerFields: set(&limits.headerFields, number(field, 10...100))
      case .targetLength:
        targetNode = field.node
        set(&limits.targetLength, size(field, 256...16_000))
      case .body: set(&limits.body, size(field, 4_096...1_048_576))
      case .headerTimeout: set(&limits.headerTimeout, duration(field, 100...600_000))
      case .bodyTimeout: set(&limits.bodyTimeout, duration(field, 100...3_600_000))
      case .idleTimeout: set(&limits.idleTimeout, duration(field, 100...86_400_000))
      case .requestTimeout: set(&limits.requestTimeout, duration(field, 1_000...604_800_000))
      case .minimumRate: set(&limits.minimumRate, isOff(field) ? 0 : size(field, 1...1_048_576, or: "off"))
      case .connections: set(&limits.connections, number(field, 16...10_000_000))
      case .connectionsPerAddress: set(&limits.connectionsPerAddress, number(field, 1...10_000_000))
      case .requestsPerConnection: set(&limits.requestsPerConnection, number(field, 1...1_000_000_000))
      case .concurrentStreams: set(&limits.concurrentStreams, number(field, 1...1_000))
      case .streamResets: set(&limits.streamResets, number(field, 10...100_000))
      case .controlFrames: set(&limits.controlFrames, number(field, 100...1_000_000))
      case .maxBufferMemory: limits.maxBufferMemory = size(field, 1_048_576...1_099_511_627_776)
      case .tokenRequestsPerClient:
        set(&limits.tokenRequestsPerClient, isOff(field) ? 0 : number(field, 1...10_000_000, or: "off"))
      case .tokenRequestsPerAddress:
        set(&limits.tokenRequestsPerAddress, isOff(field) ? 0 : number(field, 1...10_000_000, or: "off"))
      }
    }
    check(&limits, targetNode)
    return limits
  }

  private func isOff(_ field: Field) -> Bool { field.node.text == "off" }

  private func set(_ setting: inout Int, _ value: Int?) {
    if let value { setting = value }
  }

  /// A target is a part of its head.
  private func check(_ limits: inout LimitSettings, _ targetNode: YAMLNode?) {
    guard limits.targetLength >= limits.headerBytes else { return }
    if let targetNode {
      error(
        .conflict, targetNode,
        "`target_length` \(limits.targetLength) does not fit into `header_bytes` \(limits.headerBytes); make it shorter"
      )
    }
    limits.targetLength = limits.headerBytes / 2
  }
}
