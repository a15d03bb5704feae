import Proxy
import Testing

extension ProxyTests {
  struct ErrorFormTests {
    @Test(
      "A request gets a page if it names HTML and does not prefer JSON",
      arguments: [
        ([], ErrorForm.problem), ([""], .problem), (["*/*"], .problem), (["application/json"], .problem),
        (["text/html"], .page()), (["TEXT/HTML"], .page()), (["application/json, text/html"], .page()),
        (["text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"], .page()),
        (["application/json, text/html;q=0.9"], .problem), (["application/json;q=0.8, text/html;q=0.9"], .page()),
        (["application/problem+json", "text/html;q=0.5"], .problem),
        (["application/json;q=0.5", "text/html"], .page()),
        (["text/html;q=0"], .problem), (["text/html; charset=utf-8 ; q=0.1"], .page()), (["text/html;q=x"], .problem),
        (["text/html;q=.5"], .problem),
        (["text/html;q=0.125, application/json;q=0.12"], .page()), (["text/html;q=99999"], .problem),
        (["text/html;q=9, application/json"], .page()), ([",;,=,text/html;;"], .page()),
        (["text/*, image/png"], .problem),
      ])
    func form(_ accept: [String], _ form: ErrorForm) {
      #expect(ErrorForm(accept: accept) == form)
    }
  }
}
