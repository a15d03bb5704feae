public import Markup

extension QRCode {
  /// The width of the light border that readers need, in modules.
  private static let border = 4

  /// The code as an SVG image, which can stand alone or be part of a page. It contains only numbers.
  public var svg: HTML {
    let side = size + QRCode.border * 2
    var path: [HTML] = []
    for row in 0..<size {
      var column = 0
      while column < size {
        guard self[column, row] else {
          column += 1
          continue
        }
        let start = column
        while column < size, self[column, row] { column += 1 }
        path.append("M\(start + QRCode.border) \(row + QRCode.border)h\(column - start)v1h-\(column - start)z")
      }
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges" role="img">\
      <title>QR code</title><path fill="#fff" d="M0 0h\(side)v\(side)H0z"/><path d="\(path)"/></svg>
      """
  }
}
