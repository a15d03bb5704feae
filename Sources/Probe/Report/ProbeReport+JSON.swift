import Policy

extension ProbeReport: Encodable {
  private enum CodingKeys: String, CodingKey {
    case url, requests, stopped, kind, findings, upstream
  }

  package func encode(to encoder: any Encoder) throws {
    let block = UpstreamBlock(self)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(options.target.description, forKey: .url)
    try container.encode(sent, forKey: .requests)
    try container.encodeIfPresent(stop?.description, forKey: .stopped)
    try container.encodeIfPresent(block.preset?.kind, forKey: .kind)
    try container.encode(findings, forKey: .findings)
    try container.encode(block.text, forKey: .upstream)
  }
}
