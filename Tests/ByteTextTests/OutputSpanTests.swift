import ByteText
import Testing

@Suite("Pieces that are appended to an output span")
struct OutputSpanTests {
  @Test("Texts and bytes follow one another, and empty ones add nothing")
  func appendsPieces() {
    var bytes: [UInt8] = Array("a=".utf8)
    bytes.append(addingCapacity: 8) { output in
      output.append("")
      output.append("für")
      output.append(copying: [UInt8]().span)
      output.append(copying: Array("mal".utf8).span)
    }
    #expect(String(decoding: bytes, as: UTF8.self) == "a=fürmal")
  }

  @Test("A number is written as the standard library describes it", arguments: [0, 9, 10, -1, 65_535, .max, .min])
  func appendsDecimals(_ value: Int) {
    var bytes: [UInt8] = []
    bytes.append(decimal: value)
    #expect(String(decoding: bytes, as: UTF8.self) == String(value))
    #expect(bytes.count <= OutputSpan<UInt8>.maximumDecimalLength)
  }
}
