import HTTP1

/// The trailers of chunked bodies (RFC 9110, section 6.5), which pass if both sides can carry them: those of a response
/// to a client that accepts them, and those of a request that is sent in chunks. They are read completely and filtered
/// (`TrailerFields`), then written after the last chunk. They never reach a handler: the trailers of intercepted requests
/// and of the responses to them are dropped.
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

  /// Like `forwardResponseTrailers`, for trailers of the request. Fields that claim an identity are dropped, also those
  /// of a trusted proxy. In both directions, so are the fields that the route removes from a head or sets. If any are
  /// forwarded, the upstream connection is not used again: a server may add them to the fields of the next request, which
  /// can be that of another client.
  func forwardRequestTrailers() throws(Failure) -> Bool {
    if !upload.hasTrailers { trailers = [] }
    do throws(MessageError) {
      try upload.takeTrailers(from: fromClient, into: &trailers)
      guard upload.hasReadEnd else { return false }
      let (index, identityFields) = (worker.scratchHeadIndex, worker.settings.identityFields)
      let removed = route?.requestFields.names ?? []
      let lines = try TrailerFields.forwardable(trailers, without: removed, into: index) { field, bytes in
        identityFields.mayForward(field, of: index, bytes, isTrusted: false)
      }
      if !lines.isEmpty { state.sendsTrailers() }
      upload.finish(withTrailers: lines, to: toUpstream)
    } catch {
      throw .request(error)
    }
    trailers = []
    return true
  }
}
