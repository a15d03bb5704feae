import Reactor
import Testing

@testable import ClientDocuments

struct ReachabilityTests {
  @Test(
    "An address that could belong to a service of the gateway's own network is not reachable",
    arguments: [
      "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.9.9.9", "169.254.169.254",
      "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
      "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
      "::", "::1", "::ffff:8.8.8.8", "::8.8.8.8", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1",
      "2001:1ff::1", "2001:db8::1", "2002:808:808::1", "3fff::1", "4000::1", "5f00::1", "fc00::1", "fdff::1",
      "fe80::1", "fec0::1", "ff02::1", "168.63.129.16", "2606:4700::5efe:a00:1", "2606:4700::5efe:808:808",
      "2a00:1450::200:5efe:a9fe:a9fe", "2a00:1450:1:2:100:5efe:c0a8:1",
    ])
  func refused(_ text: String) throws {
    let address = try #require(Address(literal: text, port: 443))
    #expect(!address.isGloballyReachable)
  }

  @Test(
    "A public address is reachable",
    arguments: [
      "8.8.8.8", "100.63.0.1", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1", "198.17.0.1", "198.20.0.1",
      "223.255.255.255", "168.63.129.15", "168.63.129.17", "168.63.128.16", "2606:4700::5eff:a00:1",
      "2606:4700::400:5efe:a00:1", "2606:4700::1:5efe:a00:1", "2001:200::1", "2606:4700::1", "2a00:1450::1", "3ffe::1",
    ])
  func permitted(_ text: String) throws {
    let address = try #require(Address(literal: text, port: 443))
    #expect(address.isGloballyReachable)
  }
}
