public import Reactor

/// The place at which a server accepts connections.
public enum ServerLocation: Sendable {
  /// The addresses of a name, or an address literal.
  case name(Resolver)
  /// A Unix-domain socket: an absolute path, or `@` and a name in the abstract namespace of Linux (unix(7)).
  case unixSocket(path: String)

  /// The location of a host and port.
  public static func host(_ host: String, port: Int) -> ServerLocation { .name(Resolver(host: host, port: port)) }
}
