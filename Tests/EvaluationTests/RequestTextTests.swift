import Testing

@testable import Evaluation

@Suite("Requests that an operator writes")
struct RequestTextTests {
  @Test("A URL and a path are a GET, and the fragment is not a part of the request")
  func url() throws {
    let absolute = try TriedRequest(parsing: "https://id.example.com:8443/authorize?a=b%20c#x\n")
    #expect(absolute.method == "GET" && absolute.authority == "id.example.com:8443")
    #expect(absolute.path == "/authorize" && absolute.query == "a=b%20c")
    let path = try TriedRequest(parsing: "/authorize")
    #expect(path.authority == nil && path.path == "/authorize" && path.query == nil)
  }

  @Test("An HTTP request has a request line, fields and a body, with either kind of line end")
  func message() throws {
    for end in ["\n", "\r\n"] {
      let text = ["POST /token HTTP/1.1", "Host: id.example.com", "Content-Type:  text/x ", "", "a=b", ""]
      let request = try TriedRequest(parsing: text.joined(separator: end))
      #expect(request.method == "POST" && request.path == "/token" && request.authority == "id.example.com")
      #expect(request.all("content-type") == ["text/x"])
      #expect(String(decoding: request.body, as: UTF8.self) == "a=b")
    }
  }

  @Test("A curl command line gives the request that curl would send")
  func curl() throws {
    let request = try TriedRequest(
      parsing: """
        curl -sS -X POST 'https://id.example.com/token' \\
          -H 'User-Agent: x' --user "a:b c" -dgrant_type=refresh_token --data-urlencode 'scope=a b' \\
          --data-raw $'t=\\u0041\\n' -o /dev/null
        """)
    #expect(request.method == "POST" && request.authority == "id.example.com" && request.path == "/token")
    #expect(request.all("Authorization") == ["Basic YTpiIGM="])
    #expect(request.all("User-Agent") == ["x"])
    #expect(request.all("Content-Type") == ["application/x-www-form-urlencoded"])
    #expect(String(decoding: request.body, as: UTF8.self) == "grant_type=refresh_token&scope=a%20b&t=A\n")
    let grouped = try TriedRequest(parsing: "curl -sSIAbrowser /x -sd a=b -GdSs=t")
    #expect(grouped.method == "HEAD" && grouped.query == "a=b&Ss=t" && grouped.all("User-Agent") == ["browser"])
    let query = try TriedRequest(parsing: "curl -G localhost:8080/authorize -d a=b -d c=d")
    #expect(query.method == "GET" && query.query == "a=b&c=d" && query.body.isEmpty)
  }

  @Test("A group of short options may have any length", arguments: ["s", "G", "I", "sS"])
  func longGroup(_ letters: String) throws {
    let group = String(repeating: letters, count: 100_000)
    #expect(try TriedRequest(parsing: "curl -\(group) /x").path == "/x")
    #expect(throws: RequestTextError.self) { try TriedRequest(parsing: "curl -\(group)é /x") }
    #expect(throws: RequestTextError.self) { try TriedRequest(parsing: "curl -\(group)d") }
  }

  @Test(
    "A text that is not a request is refused with one line that names the reason",
    arguments: [
      ("", "is empty"), ("hello", "begins neither"), ("/a b", "text after the URL"), ("ftp://x/y", "neither http"),
      ("POST /a HTTP/1.1\nno colon\n\n", "no colon"), ("curl", "no URL"), ("curl -F a=b /x", "`-F` is not supported"),
      ("curl /a /b", "more than one URL"), ("curl /x -d @file", "with a file"), ("curl 'x", "not closed"),
      ("curl /x | sh", "outside of quotes"), ("curl \"$X\"", "between double quotes"), ("curl /x -d", "has no value"),
    ])
  func errors(_ text: String, _ reason: String) throws {
    let error = #expect(throws: RequestTextError.self) { try TriedRequest(parsing: text) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    #expect(error?.description.contains("\n") == false)
  }
}
