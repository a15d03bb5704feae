import Cryptography
import HTTP2
import RESP
import Reactor
import SQLite
import YAML

/// The version of this build, and the versions of its libraries.
enum Version {
  static let number = "0.1.0"

  /// The names and versions of the libraries. With them, an operator can check whether a security advisory about a
  /// library applies to this binary.
  static var libraries: [String] {
    [
      CryptographyLibrary.version, "nghttp2 \(HTTP2Library.version)", "SQLite \(Database.libraryVersion)",
      "hiredis \(RESPLibrary.version)", "libyaml \(YAMLLibrary.version)", "glibc \(ProcessControl.libraryVersion)",
      "Swift \(_SwiftStdlibVersion.current)",
    ]
  }

  /// The versions of the program and of its libraries, one per line.
  static var text: String { (["proofgate \(number)"] + libraries).joined(separator: "\n") }
}
