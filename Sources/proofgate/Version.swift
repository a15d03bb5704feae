import Cryptography
import HTTP2
import Reactor
import YAML

/// The version of this build.
enum Version {
  static let number = "0.1.0"

  /// The version and those of the linked libraries: an advisory about one of them applies to this binary.
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
