import HTTP1

/// The trailers of chunked bodies (RFC 9110, section 6.5), which pass if both sides can carry them: those of a response
/// to a client that accepts them, and those of a request that is sent in chunks, if the configuration permits it
/// (`ProxyConfiguration.forwardsTrailers`). They are read completely and filtered (`TrailerFields`), then written after the
/// last chunk. They never reach a handler: the trailers of intercepted requests and of the responses to them are dropped.
extension Exchange {
  /// Reads trailers of the response. Once they are complete, writes them and the end of the body to `toClient`, which is
  /// empty. Returns false if more bytes must be received.
  func forwardResponseTrailers(_ upstream: UpstreamConnection) throws(Failure) -> Bool {
    if !download.hasTrailers { trailers = [] }
    do throws(MessageError) {
      try download.takeTrailers(from: upstream.input, into: &trailers)
      guard download.hasReadEnd else { return false }
      let lines = try TrailerFields.forwardable(
        trailers, without: route?.responseFields.names ?? [], into: worker.scratchHeadIndex
      ) { _, _ in true }
      download.finish(withTrailers: lines, to: toClient)
    } catch {
      throw .upstream(.malformed(error.description))
    }
    trailers = []
    return true
  }

  /// True if a trailer section of the request is read. It is refused if it exceeds the limits, also if it is dropped.
  var readsTrailers: Bool { !heldRequest.keepsBody && !dropsTrailers }

  /// Like `forwardResponseTrailers`, for trailers of the request. If any are forwarded, the upstream connection is not used
  /// again: a server may add them to the fields of the next request, which can be that of another client.
  func forwardRequestTrailers() throws(Failure) -> Bool {
    if !upload.hasTrailers { trailers = [] }
    do throws(MessageError) {
      try upload.takeTrailers(from: fromClient, into: &trailers)
      guard upload.hasReadEnd else { return false }
      let lines = try forwardableRequestTrailers(trailers)
      if !lines.isEmpty { state.sendsTrailers() }
      upload.finish(withTrailers: lines, to: toUpstream)
    } catch {
      throw .request(error)
    }
    trailers = []
    return true
  }

  /// Returns the lines of a trailer section of the request that are forwarded. Fields that claim an identity are dropped,
  /// also those of a trusted proxy. In both directions, so are the fields that the route removes from a head or sets.
  func forwardableRequestTrailers(_ section: [UInt8]) throws(MessageError) -> [UInt8] {
    let (index, settings) = (worker.scratchHeadIndex, worker.settings)
    let (forwards, identityFields) = (settings.configuration.forwardsTrailers, settings.identityFields)
    return try TrailerFields.forwardable(
      section, without: route?.requestFields.names ?? [], into: index
    ) { field, bytes in
      forwards && identityFields.mayForward(field, of: index, bytes, isTrusted: false)
    }
  }
}
