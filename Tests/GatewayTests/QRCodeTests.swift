import Cryptography
import Markup
import Testing

@testable import Gateway

/// QR codes with error correction level M (ISO/IEC 18004).
@Suite("QR codes")
struct QRCodeTests {
  private func rows(_ code: QRCode) -> [String] {
    (0..<code.size).map { row in (0..<code.size).map { code[$0, row] ? "#" : "." }.joined() }
  }

  /// The reference code was computed with another implementation.
  @Test("A short text has the same modules as in another implementation")
  func reference() throws {
    let code = try #require(QRCode("https://gw.example/device"))
    #expect(
      rows(code) == [
        "#######..###..##..#######",
        "#.....#...#...###.#.....#",
        "#.###.#..#..#.#...#.###.#",
        "#.###.#..#.#......#.###.#",
        "#.###.#..#....###.#.###.#",
        "#.....#.#####..#..#.....#",
        "#######.#.#.#.#.#.#######",
        ".........#.##.###........",
        "#..#.##.###..##..#.#.....",
        ".#.#...##.#..#..#.#.....#",
        "#...#######..#..###....##",
        "..##.#.......######.#....",
        "#...#.#.######.##.#..#.##",
        "....#...#.###....###.##.#",
        "#.##.###....#.#....##.#.#",
        ".#.##..##...####.##.#..#.",
        "##..#.###.###...#######..",
        "........##...#.##...##..#",
        "#######..##..#.##.#.##.##",
        "#.....#.#.###...#...###..",
        "#.###.#...#####.######.#.",
        "#.###.#.##..#..#...####..",
        "#.###.#......##.#..##.#.#",
        "#.....#...##.#..##...#...",
        "#######.#...##.#####...##",
      ])
  }

  @Test(
    "A text with room for error correction in several blocks has the same modules as in another implementation",
    arguments: [
      ("x", 1, 21, "e1c17550680e6893f138cbae4a039cf5dc0fd844659b9995ef1e8b2117ca22d8"),
      ("y", 100, 41, "edcddac1f87049a248c48340b563458426c1f935ee269d0e8f93f71d89c7c3a7"),
      ("z", 140, 49, "c97c5184cacf83eee2fa0e20ac7e3ce8e073ae0e63942d4fb11aa924fcff590c"),
      ("w", 213, 57, "66620ee854903c0791935ea51e3c76c2f272457a4cace55a2821a5749aedec19"),
    ] as [(Character, Int, Int, String)])
  func blocks(letter: Character, count: Int, size: Int, digest: String) throws {
    let code = try #require(QRCode(String(repeating: letter, count: count)))
    #expect(code.size == size)
    let bytes = sha256(Array(rows(code).joined().utf8))
    #expect(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == digest)
  }

  @Test("A text that is longer than the largest code has no code")
  func tooLong() {
    #expect(QRCode(String(repeating: "w", count: 213)) != nil)
    #expect(QRCode(String(repeating: "w", count: 214)) == nil)
  }

  @Test("All codewords of a block are divisible by the generator polynomial, and a damaged one is not")
  func errorCorrection() {
    let data = Array("https://gw.example/device".utf8)
    var block = data + ReedSolomon.check(of: data, count: 16)
    #expect(ReedSolomon.check(of: block, count: 16).allSatisfy { $0 == 0 })
    block[3] ^= 1
    #expect(!ReedSolomon.check(of: block, count: 16).allSatisfy { $0 == 0 })
  }

  @Test("The image has a light border of four modules and no text but a title")
  func image() throws {
    let svg = try #require(QRCode("x")).svg.text
    #expect(svg.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 29 29\""))
    #expect(svg.contains("<path d=\"M4 4h7v1h-7z"))
    #expect(svg.hasSuffix("</svg>"))
  }
}
