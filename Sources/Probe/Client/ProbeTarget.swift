import Gateway
import Policy

/// The server that is probed.
package struct ProbeTarget: Sendable, Equatable, CustomStringConvertible {
  /// The scheme, host and port.
  package let origin: Origin
  /// The path in front of the paths that are guessed, without a slash at its end; empty for the root.
  package let folder: String

  /// Creates a target.
  package init(origin: Origin, folder: String = "") {
    self.origin = origin
    self.folder = folder
  }

  /// Parses an http or https URL; `nil` if it has user information, a query or a fragment, or is malformed.
  package init?(parsing text: String) {
    guard let url = MetadataURL(parsing: text), !url.target.contains("?") else { return nil }
    var path = url.path[...]
    while path.hasSuffix("/") { path = path.dropLast() }
    self.init(origin: url.origin, folder: String(path))
  }

  /// The URL.
  package var description: String { origin.description + folder }
}
