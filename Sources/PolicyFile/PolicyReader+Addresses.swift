import Policy
import YAML

extension ListenerSettings: SectionDraft {
  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  static let section = Section<ListenerSettings>(
    table,
    [
      "address": { if let address = $0.address($1) { $2.address = address } },
      "tls": { $2.tls = $0.listenerTLS($1) },
    ])
}

extension PolicyReader {
  /// Reads `listeners:` and reports addresses that occur twice. Port 0, with which the system chooses a free port, may
  /// occur more than once.
  func listeners(_ field: Field) -> [(value: ListenerSettings, node: YAMLNode)] {
    var listeners: [(value: ListenerSettings, node: YAMLNode)] = []
    var seen: [SocketAddress: YAMLNode] = [:]
    let items = list(field)
    if items.isEmpty, field.node.kind == .sequence {
      error(.missingValue, field.node, "`listeners` is empty; add an item such as `- address: 127.0.0.1:8080`")
    }
    for item in items {
      guard let listener = listener(item) else { continue }
      if listener.address.port != 0, let first = seen[listener.address] {
        error(
          .duplicateValue, item.node,
          "address `\(listener.address)` is listened on twice, first in line \(first.mark.line); remove one")
      }
      seen[listener.address] = item.node
      listeners.append((listener, item.node))
    }
    return listeners
  }

  private func listener(_ item: Field) -> ListenerSettings? {
    var listener = ListenerSettings.table.defaults()
    guard let fields = read(item.node, ListenerSettings.section, into: &listener) else { return nil }
    requireSettings(of: ListenerSettings.section, in: fields, item.node, named: "the listener")
    // The host is still that of the defaults, an empty text, if the address is missing or invalid.
    return listener.address.host.isEmpty ? nil : listener
  }

  /// Reads an address literal with a port: `127.0.0.1:8080` or `[::1]:8080`.
  func address(_ field: Field) -> SocketAddress? {
    guard let text = text(field) else { return nil }
    if let colon = text.lastIndex(of: ":") {
      let digits = text[text.index(after: colon)...]
      var host = text[..<colon]
      let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
      if isBracketed { host = host.dropFirst().dropLast() }
      let isLiteral = isBracketed ? AddressText.parseIPv6(host) != nil : AddressText.parseIPv4(host) != nil
      if isLiteral, AddressText.isCanonicalNumber(digits), let port = Int(digits), port <= 65_535 {
        return SocketAddress(host: String(host).lowercased(), port: port)
      }
    }
    let hint =
      text.hasPrefix("localhost:")
      ? "a name is not an address, use `127.0.0.1:\(text.dropFirst(10))`"
      : "use an address literal and a port, such as `127.0.0.1:8080` or `[::]:8080`"
    error(.invalidValue, field.node, "`\(field.name)` cannot be \(quoted(text)); \(hint)")
    return nil
  }

  func trustedProxies(_ field: Field) -> [AddressRange] {
    list(field, allowsSingleValue: true).compactMap(addressRange)
  }

  private func addressRange(_ field: Field) -> AddressRange? {
    guard let text = text(field) else { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let first = parts.first, let network = AddressText.parse(first) else {
      return refuseRange(field, text, "use an address or a block such as `10.0.0.0/8` or `fd00::/8`")
    }
    // An IPv4 address is mapped to IPv6, so its prefix is 96 bits longer.
    let offset = first.contains(":") ? 0 : 96
    var length = 128
    if parts.count == 2 {
      guard AddressText.isCanonicalNumber(parts[1]), let bits = Int(parts[1]), bits + offset <= 128 else {
        return refuseRange(field, text, "the prefix is a number from 0 to \(128 - offset)")
      }
      length = bits + offset
    }
    let hasOnlyZerosAfterPrefix = (length..<128).allSatisfy { network[$0 / 8] & (0x80 >> UInt8($0 % 8)) == 0 }
    guard hasOnlyZerosAfterPrefix else {
      return refuseRange(field, text, "it has bits after the prefix; set them to zero")
    }
    if length == offset {
      warn(.trustEveryone, field.node, "\(quoted(text)) trusts every peer; list the addresses of your proxies")
    }
    return AddressRange(network: network, prefixLength: length)
  }

  /// Reports an invalid range. The result is always `nil`, so that the caller can return it.
  private func refuseRange(_ field: Field, _ text: String, _ hint: String) -> AddressRange? {
    error(.invalidValue, field.node, "`\(field.name)` cannot hold \(quoted(text)); \(hint)")
    return nil
  }
}
