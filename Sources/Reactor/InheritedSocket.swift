import CLinux

/// A listening socket that a service manager has passed to this process (`sd_listen_fds(3)`): a socket of a socket unit,
/// or one that an earlier process has put in the manager's descriptor store.
public struct InheritedSocket: Sendable {
  let descriptor: Int32
  let address: Address
  /// The place of the socket as in a policy, such as `127.0.0.1:8080` or `unix:/run/proofgate.sock`.
  public let place: String
  /// The name of the descriptor in `LISTEN_FDNAMES`; empty without a name.
  public let name: String
  /// False for a socket of the descriptor store whose listening was ended, which only `end` may be called for.
  public let listens: Bool

  /// The reason why the inherited descriptors cannot be used, for the operator.
  public struct Failure: Error, CustomStringConvertible {
    /// One line.
    public let description: String

    /// Creates a failure.
    public init(description: String) {
      self.description = description
    }
  }

  /// The first inherited descriptor.
  private static let firstDescriptor: Int32 = 3
  /// The start of the names of stored sockets. A socket unit has no such name, unless its `FileDescriptorName=` is set
  /// to it.
  private static let storedPrefix = "listener="
  /// The maximum length of a name in the descriptor store.
  private static let maximumNameLength = 255

  /// True if an earlier process has put the socket in the descriptor store; false for a socket of a socket unit.
  public var isStored: Bool { name.hasPrefix(InheritedSocket.storedPrefix) }

  /// Returns the name in the descriptor store of the sockets with this place. Such a name has neither spaces nor colons.
  public static func storedName(of place: String) -> String {
    let escaped = place.utf8.map { byte in
      let isPlain = byte > UInt8(ascii: " ") && byte < 127 && byte != UInt8(ascii: ":") && byte != UInt8(ascii: "%")
      let digits = String(byte, radix: 16, uppercase: true)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.count == 1 ? "0" : "") + digits
    }
    return storedPrefix + escaped.joined().suffix(maximumNameLength - storedPrefix.count)
  }

  /// Returns the sockets that `environment` announces: `LISTEN_FDS` is their number and `LISTEN_PID` the process for
  /// which they are. Makes them non-blocking and closed on exec.
  ///
  /// Throws: a variable is malformed, or a descriptor is not a listening stream socket.
  public static func all(environment: [String: String], process: Int) throws(Failure) -> [InheritedSocket] {
    guard let identifier = environment["LISTEN_PID"], identifier == "\(process)", let text = environment["LISTEN_FDS"]
    else { return [] }
    guard let count = Int32(text), count >= 0, count < 65_536 else {
      throw Failure(description: "`LISTEN_FDS` is `\(visible(text))`, which is not a number of descriptors")
    }
    let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
    var sockets: [InheritedSocket] = []
    for index in 0..<count {
      let name = Int(index) < names.count ? String(names[Int(index)]) : ""
      sockets.append(try InheritedSocket(firstDescriptor + index, name))
    }
    return sockets
  }

  private init(_ descriptor: Int32, _ name: String) throws(Failure) {
    var system = cl_address()
    let (result, path) = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) {
      text -> (Int32, String) in
      guard let base = text.baseAddress else { return (0, "") }
      unsafe base[0] = 0
      let result = unsafe cl_inherit_listener(descriptor, &system, base)
      return unsafe (result, String(cString: base))
    }
    let isStored = name.hasPrefix(InheritedSocket.storedPrefix)
    let error = IOError(code: -result)
    // A TCP socket whose listening was ended is like one that never listened.
    listens = result >= 0 || !isStored || ![.invalidArgument, .shutDown].contains(error)
    guard result >= 0 || !listens else {
      let problem =
        switch error {
        case .invalidArgument: "is not a stream socket that listens; correct the socket unit"
        case .shutDown: "no longer listens, because a process has shut it down; restart the socket unit"
        default: "cannot be used: \(error); correct the socket unit"
        }
      throw Failure(
        description: "the inherited descriptor \(descriptor)"
          + (name.isEmpty ? "" : " (`\(InheritedSocket.visible(name))`)") + " \(problem)")
    }
    self.descriptor = descriptor
    self.name = name
    address = listens ? Address(system) : .unixSocket
    place =
      if !path.isEmpty {
        "unix:\(path)"
      } else if listens {
        address.description
      } else {
        String(name.dropFirst(InheritedSocket.storedPrefix.count))
      }
  }

  /// The place and the name of the socket, for messages.
  public var label: String {
    InheritedSocket.visible(name.isEmpty ? place : "\(place) (`\(name)`)")
  }

  /// Returns the text with a question mark in place of each control character.
  private static func visible(_ text: String) -> String {
    String(decoding: text.utf8.map { $0 < 0x20 || $0 == 0x7f ? UInt8(ascii: "?") : $0 }, as: UTF8.self)
  }

  /// Ends the listening for all processes that have the socket, closes it, and removes its file, to which no client can
  /// connect any more. Its waiting connections are reset.
  public func end() {
    cl_end_listening(descriptor)
    cl_close(descriptor)
    if place.hasPrefix("unix:/") { _ = unsafe cl_remove_stale_unix(String(place.dropFirst(5))) }
  }
}
