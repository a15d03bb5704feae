import OAuth
import Reactor
import TLS
import TLSTestSupport
import Testing
import Time

@testable import ClientDocuments

/// Documents, responses and fetchers of the tests over sockets.
enum DocumentFixture {
  static let host = "gw.example"

  static func url(_ port: Int, _ path: String = "/client.json") throws -> ClientDocumentURL {
    try #require(ClientDocumentURL(parsing: "https://\(host):\(port)\(path)"))
  }

  /// A document with spaces behind it, so that it has this length.
  static func document(_ url: ClientDocumentURL, length: Int? = nil) -> [UInt8] {
    let text = #"{"client_id":"\#(url.text)","client_name":"Tool","redirect_uris":["http://127.0.0.1/cb"]}"#
    let bytes = Array(text.utf8)
    return bytes + [UInt8](repeating: 0x20, count: max(0, (length ?? 0) - bytes.count))
  }

  /// A complete response with a length.
  static func response(_ body: [UInt8], _ fields: String = "", status: Int = 200) -> [UInt8] {
    head("Content-Type: application/json\r\nContent-Length: \(body.count)\r\n\(fields)", status: status) + body
  }

  static func head(_ fields: String, status: Int = 200) -> [UInt8] {
    Array("HTTP/1.1 \(status) Status\r\n\(fields)\r\n".utf8)
  }

  /// The response to a request for a document of `host`, whose path and port are those of the request.
  static func answer(_ server: DocumentServer, lifetime: Int = 3_600) throws -> [UInt8] {
    let path = server.requests.last?.split(separator: " ").dropFirst().first.map(String.init) ?? "/"
    return response(document(try url(server.address.port, path)), "Cache-Control: max-age=\(lifetime)\r\n")
  }

  /// A fetcher that looks names up in `names` and trusts the authority of the tests.
  static func fetcher(
    _ names: NameAnswers, permitsLoopback: Bool = true, ownNames: [Resolver] = [], ownAddresses: [Address] = [],
    authority: String = "server-ca"
  ) throws -> DocumentFetcher {
    DocumentFetcher(
      authorities: try TestCertificates.chain(authority), ownNames: ownNames, ownAddresses: ownAddresses,
      permitsLoopback: permitsLoopback
    ) { names.resolver($0, $1) }
  }
}

extension DocumentFetcher {
  /// Fetches without the cache.
  func result(
    _ url: ClientDocumentURL, on worker: isolated Worker
  ) async -> Result<FetchedDocument, DocumentFailure> {
    do throws(DocumentFailure) {
      return .success(try await fetch(url, on: worker.poller, gate: HandshakeGate(worker.poller)))
    } catch {
      return .failure(error)
    }
  }
}

extension Result where Failure == DocumentFailure {
  /// The step that failed; `nil` for a success and for a refused document.
  var outage: DocumentOutage? {
    if case .failure(.unavailable(let outage, _)) = self { outage } else { nil }
  }

  /// True if the response is not an acceptable document.
  var isInvalid: Bool {
    if case .failure(.invalid) = self { true } else { false }
  }

  var isSuccess: Bool {
    if case .success = self { true } else { false }
  }
}
