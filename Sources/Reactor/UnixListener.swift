import CLinux

/// A Unix-domain socket on which connections are accepted.
public struct UnixListener: Sendable {
  /// An absolute path, or `@` and a name in the abstract namespace of Linux (unix(7)).
  public let path: String
  /// The permissions of the file, for example 0o660. A client needs the permission to write.
  public let mode: UInt32
  /// The owner and group of the file; `nil` for those of the process.
  public let owner: Owner?
  /// The address that is used for each peer.
  public let peer: Address

  /// The numbers of a user and a group; `nil` for that of the process.
  public struct Owner: Equatable, Sendable {
    /// The number of the user.
    public var user: UInt32?
    /// The number of the group.
    public var group: UInt32?

    /// Creates an owner.
    public init(user: UInt32?, group: UInt32?) {
      self.user = user
      self.group = group
    }
  }

  /// Creates a listener. Nothing is bound yet.
  public init(path: String, mode: UInt32, owner: Owner?, peer: Address) {
    self.path = path
    self.mode = mode
    self.owner = owner
    self.peer = peer
  }

  /// True if clients find a socket at the path, or if it is a name in the abstract namespace.
  public var hasFile: Bool { unsafe path.hasPrefix("@") || cl_is_unix_file(path) }

  /// Gives the file its mode and owner again. Does nothing for a name in the abstract namespace.
  public func restoreFileMode() throws(IOError) {
    guard !path.hasPrefix("@") else { return }
    let none = UInt32.max
    _ = try IOError.check(unsafe cl_set_unix_file(path, mode, owner?.user ?? none, owner?.group ?? none))
  }

  /// Removes the file, unless a process listens on it.
  public func removeFile() {
    _ = unsafe cl_remove_stale_unix(path)
  }
}
