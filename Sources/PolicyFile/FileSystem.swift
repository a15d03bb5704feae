import FoundationEssentials

/// Access to the files of a policy.
enum FileSystem {
  /// The reason why a file cannot be read.
  enum Problem: Error, Equatable {
    case missing
    case denied
    case directory
    case special
    case tooLong(limit: Int)
    case other

    /// The problem in words. In a message, they follow the name of the file.
    var text: String {
      switch self {
      case .missing: "does not exist"
      case .denied: "may not be read by this user"
      case .directory: "is a directory"
      case .special: "is not a regular file"
      case .tooLong(let limit): "is longer than \(limit) bytes"
      case .other: "cannot be read"
      }
    }

    /// The remedy, as an instruction to the operator.
    var advice: String {
      switch self {
      case .missing: "check the path"
      case .denied: "change its owner or mode, or run as another user"
      case .directory: "name a file in it"
      case .special, .tooLong: "name another file"
      case .other: "check the file system that it is on"
      }
    }
  }

  /// Reads a file of at most `limit` bytes.
  static func read(_ path: String, limit: Int) throws(Problem) -> [UInt8] {
    do {
      let data = try Data(contentsOf: URL(fileURLWithPath: path))
      guard data.count <= limit else { throw Problem.tooLong(limit: limit) }
      return [UInt8](data)
    } catch let problem as Problem {
      throw problem
    } catch {
      throw self.problem(error, path: path)
    }
  }

  /// Returns the names in a directory, sorted by their bytes.
  static func names(in directory: String) throws(Problem) -> [String] {
    do {
      let names = try FileManager.default.contentsOfDirectory(atPath: directory.isEmpty ? "." : directory)
      return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    } catch {
      throw problem(error)
    }
  }

  static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// Returns the reason why this process cannot append to a file that exists, or create it; `nil` if it can. The text
  /// follows the name of the file, and says what to do.
  static func problemOfAppending(to path: String) -> String? {
    let manager = FileManager.default
    var isDirectory = false
    if manager.fileExists(atPath: path, isDirectory: &isDirectory) {
      if isDirectory { return "is a directory; name a file in it" }
      return manager.isWritableFile(atPath: path) ? nil : "may not be written by this user; change its owner or mode"
    }
    // The limit of Linux (`NAME_MAX`).
    if path.utf8.count - directory(of: path).utf8.count > 255 { return "has a name of more than 255 bytes; shorten it" }
    let directory = String(directory(of: path).dropLast())
    if directory.isEmpty { return nil }
    guard manager.fileExists(atPath: directory, isDirectory: &isDirectory) else {
      return "is in a directory that does not exist; create \(quoted(directory))"
    }
    guard isDirectory else { return "is below \(quoted(directory)), which is a file; name a directory" }
    return manager.isWritableFile(atPath: directory)
      ? nil : "cannot be created by this user; make \(quoted(directory)) writable"
  }

  /// Returns true if all users of the machine may read the file according to its mode. Symbolic links are followed.
  static func isWorldReadable(_ path: String) -> Bool {
    (attributes(of: path)?[.posixPermissions] as? UInt).map { $0 & 0o004 != 0 } ?? false
  }

  /// Returns true if the path is that of a socket. Symbolic links are followed.
  static func isSocket(_ path: String) -> Bool {
    attributes(of: path)?[.type] as? FileAttributeType == .typeSocket
  }

  private static func attributes(of path: String) -> [FileAttributeKey: Any]? {
    let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    return try? FileManager.default.attributesOfItem(atPath: target)
  }

  /// Resolves a path that occurs in `file`. A relative path starts in the directory of that file.
  static func resolve(_ path: String, relativeTo file: String) -> String {
    path.hasPrefix("/") ? path : directory(of: file) + path
  }

  /// Returns the part of the path up to and including the last slash.
  static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "" }
    return String(path[...slash])
  }

  private static func problem(_ error: any Error, path: String) -> Problem {
    var isDirectory = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory { return .directory }
    let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    if let type, type != .typeRegular, type != .typeSymbolicLink { return .special }
    return problem(error)
  }

  private static func problem(_ error: any Error) -> Problem {
    switch (error as? CocoaError)?.code {
    case CocoaError.fileReadNoSuchFile?, CocoaError.fileNoSuchFile?: return .missing
    case CocoaError.fileReadNoPermission?: return .denied
    default: return .other
    }
  }
}
