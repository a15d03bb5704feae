import Cryptography
import HTTP2
import Reactor
import YAML

/// What this build is.
enum Version {
  static let number = "0.1.0"

  /// The version, and those of the libraries that are linked: an advisory about one concerns this binary.
  static var text: String {
    """
    proofgate \(number)
    \(CryptographyLibrary.version)
    nghttp2 \(HTTP2Library.version)
    libyaml \(YAMLLibrary.version)
    glibc \(ProcessSettings.libraryVersion)
    Swift \(_SwiftStdlibVersion.current)
    """
  }
}
