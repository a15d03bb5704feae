import HTTP1
import Reactor

/// Early hints (RFC 8297): `Link` fields that an upstream sends in a 103 response before it has its final response, so
/// that the browser can begin to load stylesheets and scripts.
extension Exchange {
  /// The maximum number of bytes of the fields that are forwarded before one response.
  private static let hintLimit = 4 * 1024

  /// Forwards the 103 response at the front of `input`, whose fields are in `responseFields`, and removes it.
  ///
  /// Only `Link` fields are forwarded. The whole response is dropped if a link must not reach the browser, if the route
  /// removes or sets `Link`, and if the request carries the handler's own cookie: the handler then edits the final
  /// response, e.g. its `Referrer-Policy`, which would be too late for the hinted resources.
  ///
  /// Hints do not wait for a client: they would come too late. They are sent only if the client has acknowledged nearly
  /// all earlier bytes, because the kernel then accepts the whole head. Half a head could not be completed later.
  func forwardHints(_ parsed: ResponseHead, _ input: Buffer) throws(Failure) {
    let mayForward = !requestHasHandlerCookie && route?.responseFields.names.contains("link") != true
    let lines = mayForward ? linkLines(input) : []
    input.consume(parsed.length)
    guard !lines.isEmpty, reader.hintBytes + lines.count <= Exchange.hintLimit,
      clientConnection.socket.satisfies(.writable), clientConnection.socket.unacknowledged <= Exchange.hintLimit
    else { return }
    reader.hintBytes += lines.count
    guard let interim = buffers.take() else { return }
    defer { buffers.wipeAndGiveBack(interim) }
    interim.append("HTTP/1.1 103 Early Hints\r\n")
    interim.append(lines)
    interim.append("\r\n")
    let length = interim.count
    while !interim.isEmpty {
      switch clientConnection.socket.send(interim) {
      case .moved: continue
      case .wouldBlock where interim.count == length:
        // A TLS layer may not get other hints now (`TLSLayer.send`).
        reader.hintBytes = Exchange.hintLimit
        return
      // A send buffer smaller than the head, which only the system's settings can cause.
      case .wouldBlock, .ended, .failed: throw .state(.clientGone)
      }
    }
  }

  /// Returns the `Link` lines; nothing if one of them must not reach the browser.
  private func linkLines(_ input: Buffer) -> [UInt8] {
    var lines: [UInt8] = []
    var links: [String] = []
    for field in responseFields where field.known == .link && !field.isNamedByConnection {
      links.append(input.withSpan { RequestReader.text($0, field.value) })
      lines += Array("Link: ".utf8) + input.bytes(from: field.value.lowerBound, count: field.value.count)
      lines += [0x0d, 0x0a]
    }
    return withholds(links: links) ? [] : lines
  }
}
