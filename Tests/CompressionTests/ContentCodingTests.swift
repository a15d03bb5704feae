import Compression
import Testing

struct ContentCodingTests {
  private func named(_ fields: String...) -> Result<ContentCoding?, CompressionError> {
    do throws(CompressionError) {
      return .success(try ContentCoding.parse(contentEncoding: fields))
    } catch {
      return .failure(error)
    }
  }

  @Test("A coding is recognised in any letter case, and identity counts as no coding")
  func names() {
    for name in ["gzip", "GZIP", "x-gzip", " gzip\t", "identity, gzip", ",gzip,"] {
      #expect(named(name) == .success(.gzip), "\(name)")
    }
    #expect(named("deflate") == .success(.deflate))
    #expect(named("identity") == .success(nil))
    #expect(named("") == .success(nil))
    #expect(named() == .success(nil))
  }

  @Test("A comma ends a name, also in front of a combining mark")
  func combiningMarks() {
    #expect(named("gzip,\u{301}") == .failure(.unsupported))
    #expect(ContentCoding.acceptsGzip(["gzip,\u{301}"]))
    #expect(!ContentCoding.acceptsGzip(["gzip;q=0;\u{301}"]))
    #expect(ContentCoding.acceptsGzip(["gzip;q=0\u{301}"]))
  }

  @Test("Unknown codings and several codings are refused")
  func refused() {
    for name in ["br", "zstd", "compress", "gzip, gzip", "gzip, br", "gzip;q=1", "g zip"] {
      #expect(named(name) == .failure(.unsupported), "\(name)")
    }
    #expect(named("gzip", "deflate") == .failure(.unsupported))
  }

  @Test("A client accepts gzip if it names it, or everything, with a weight above zero")
  func accepted() {
    for value in ["gzip", "deflate, gzip;q=0.5, br", "*", "GZIP", "br;q=1.0, *;q=0.1", "gzip;q=1, *;q=0"] {
      #expect(ContentCoding.acceptsGzip([value]), "\(value)")
    }
    for value in ["", "identity", "br", "gzip;q=0", "gzip; q=0.000", "*;q=0", "gzip;q=0, *", "gzipped"] {
      #expect(!ContentCoding.acceptsGzip([value]), "\(value)")
    }
    #expect(!ContentCoding.acceptsGzip([]))
    #expect(ContentCoding.acceptsGzip(["br", "gzip"]))
  }
}
