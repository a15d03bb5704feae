/// The entry point for libFuzzer: `Fuzz --target=NAME [libFuzzer's options] CORPUS`. libFuzzer ignores options with two
/// hyphens.
private let chosen: FuzzTarget = {
  let name = CommandLine.arguments.first { $0.hasPrefix("--target=") }?.dropFirst("--target=".count) ?? ""
  guard let target = FuzzTarget(rawValue: String(name)) else {
    fatalError("no target `\(name)`; there are \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
  }
  return target
}()

/// Checks one input. libFuzzer calls this function by its C name; a violated property ends the process, so that
/// libFuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  // Sound: libFuzzer's bytes are valid until this function returns, and they are copied at once.
  let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  do {
    try chosen.check(input)
  } catch {
    fatalError("\(error)")
  }
  return 0
}
