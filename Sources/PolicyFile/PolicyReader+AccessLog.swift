import Policy
import YAML

extension AccessLogSettings: SectionDraft {
  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  fileprivate static let section = Section<AccessLogSettings>(
    table, ["to": { if let destination = $0.accessLogDestination($1) { $2.destination = destination } }])
}

/// The mapping form of `to:`, `{ file: PATH }` or `{ syslog: PATH, facility: WORD, severity: WORD }`.
struct AccessLogTarget: SectionDraft {
  var file: String?
  var syslog: String?
  var facility = SyslogSettings.Facility.local7
  var severity = SyslogSettings.Severity.info

  static let table = SettingTable<AccessLogTarget>(
    "access_log_to", "The destination of the access log.", alternativeRequiredKeys: [["file"], ["syslog"]],
    [
      .customReader(
        "file", .text("absolute path", pattern: "^/.*[^/]$"),
        """
        A file or FIFO to which lines are appended, in a directory that exists. SIGUSR1 and SIGHUP open it again, after \
        log rotation
        """, default: "none"),
      .customReader(
        "syslog", .text("absolute path", pattern: "^/.*[^/]$"),
        "The Unix datagram socket of a syslog server, such as `/dev/log`, which gets messages of RFC 5424",
        default: "none"),
      .choice("facility", \.facility, "The facility of syslog messages (RFC 5424, section 6.2.1)"),
      .choice("severity", \.severity, "The severity of syslog messages"),
    ]
  ) { AccessLogTarget() }

  fileprivate static let section = Section<AccessLogTarget>(
    table,
    [
      "file": { $2.file = $0.logFilePath($1) },
      "syslog": { $2.syslog = $0.syslogPath($1) },
    ])
}

extension PolicyReader {
  /// Reads `access_log:`; `nil` for `off`.
  func accessLog(_ field: Field) -> AccessLogSettings? {
    if field.node.text == "off" { return nil }
    guard field.node.kind == .mapping else {
      error(.wrongType, field.node, "`access_log` must be `off` or a mapping such as `{ to: stdout }`")
      return nil
    }
    var settings = AccessLogSettings()
    guard let fields = read(field.node, AccessLogSettings.section, into: &settings) else { return nil }
    requireSettings(of: AccessLogSettings.section, in: fields, field.key, named: "`access_log`")
    if let chosen = fields["fields"], settings.format == .combined {
      error(
        .conflict, chosen.node,
        "`fields` has no effect with `format: combined`, whose lines always have the same fields; remove it, or use "
          + "`format: json`")
    }
    return settings
  }

  fileprivate func accessLogDestination(_ field: Field) -> AccessLogSettings.Destination? {
    guard field.node.kind == .mapping else {
      if field.node.text == "stdout" { return .standardOutput }
      error(
        .invalidValue, field.node,
        "`to` must be `stdout`, or a mapping such as `{ file: /var/log/proofgate/access.log }` or "
          + "`{ syslog: /dev/log }`")
      return nil
    }
    var target = AccessLogTarget()
    guard let fields = read(field.node, AccessLogTarget.section, named: "to", into: &target) else { return nil }
    switch (fields["file"], fields["syslog"]) {
    case (nil, nil):
      error(.missingKey, field.node, "`to` has no destination; add `file: PATH` or `syslog: PATH`, or use `stdout`")
      return nil
    case (.some, .some):
      error(.conflict, field.node, "`to` needs either `file` or `syslog`; give one of them")
      return nil
    case (.some, nil):
      for key in ["facility", "severity"] {
        guard let field = fields[key] else { continue }
        error(.conflict, field.key, "`\(key)` has no effect without `syslog`; remove it")
      }
      return target.file.map { .file($0) }
    case (nil, .some):
      return target.syslog.map { path in
        var syslog = SyslogSettings(path: path)
        syslog.facility = target.facility
        syslog.severity = target.severity
        return .syslog(syslog)
      }
    }
  }

  /// Reads the path of a log file, and reports a path that the gateway could not open.
  fileprivate func logFilePath(_ field: Field) -> String? {
    guard let path = absolutePath(field, example: "/var/log/proofgate/access.log") else { return nil }
    if let problem = FileSystem.problemOfAppending(to: path) {
      error(.invalidValue, field.node, "\(quoted(path)) \(problem)")
      return nil
    }
    return path
  }

  fileprivate func syslogPath(_ field: Field) -> String? {
    guard let path = absolutePath(field, example: "/dev/log") else { return nil }
    // The name of a Unix socket has at most 107 bytes (unix(7)).
    guard path.utf8.count <= 107 else {
      error(
        .invalidValue, field.node, "`syslog` has \(path.utf8.count) characters; the path of a socket has at most 107")
      return nil
    }
    // The syslog server may start later, but what exists must be a socket.
    if FileSystem.exists(path), !FileSystem.isSocket(path) {
      error(.invalidValue, field.node, "\(quoted(path)) is not a socket; name the one of the syslog server")
      return nil
    }
    return path
  }

  /// The directory in which the process starts is not known in advance, so a relative path could mean any file.
  private func absolutePath(_ field: Field, example: String) -> String? {
    guard let path = text(field) else { return nil }
    guard path.hasPrefix("/"), !path.hasSuffix("/") else {
      error(
        .invalidValue, field.node,
        "`\(field.name)` cannot be \(quoted(path)); use the absolute path of a file, such as `\(example)`")
      return nil
    }
    return path
  }
}
