import ArgumentParser
import Reactor
import Sealing

/// The command `proofgate keys`: manages the file with the sealing keys, which all replicas share. With these keys, the
/// gateway seals (encrypts and authenticates) the codes, refresh tokens and states that it issues.
struct KeysCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "keys", abstract: "Create, rotate and list sealing keys.",
      discussion: """
        A rotation takes two steps, so that no replica gets a value that it cannot open: `rotate` adds a key that only \
        opens values; when every replica has loaded the file, a second `rotate` makes it seal. Retire the old key when \
        no value that it sealed is in use: after the longest lifetime of a refresh token.
        """,
      subcommands: [Generate.self, Rotate.self, Retire.self, List.self])
  }

  struct Generate: ParsableCommand {
    static var configuration: CommandConfiguration {
      CommandConfiguration(abstract: "Create a key file with one key; never overwrites a file.")
    }

    @Option(help: ArgumentHelp("The file to create, for its owner only; default: standard output.", valueName: "file"))
    var file: String?

    @Flag(help: "Add a key for the ids of registered clients, which a policy with `registration` needs.")
    var registration = false

    func run() throws {
      let keys = KeyFile.generate(now: SystemClock.unixTime(), withRegistrationKey: registration)
      guard let file else {
        Console.writeOutput(keys.render())
        return
      }
      do throws(IOError) {
        try SecretFile.create(file, Array(keys.render().utf8))
      } catch {
        let fileExists = error == .exists
        Console.reportError(
          fileExists
            ? "\(file) exists; use `keys rotate` to add a key to it, or choose another name"
            : "\(file) cannot be written: \(error.withAdvice)")
        throw ExitCode.systemFailure
      }
      if let key = keys.ring?.sealingKeyID { Console.inform("\(file) created, key \(key) seals") }
    }
  }

  struct Rotate: ParsableCommand {
    static var configuration: CommandConfiguration {
      CommandConfiguration(abstract: "Perform the next step of a rotation.")
    }

    @OptionGroup var source: KeyFileOption

    @Flag(help: "Rotate the keys for the ids of registered clients; adds the first one if there is none.")
    var registration = false

    func run() throws {
      var keys = try source.read()
      let now = SystemClock.unixTime()
      let step = registration ? keys.rotateRegistration(now: now) : keys.rotate(now: now)
      try source.write(keys)
      switch step {
      case .added(let id):
        Console.inform("key \(id) added for opening; load the file on every replica, then rotate again to seal with it")
      case .promoted(let id):
        Console.inform(
          "key \(id) seals from the next reload on; `proofgate keys retire` says when older keys can be retired")
      }
    }
  }
}

extension KeysCommand {
  struct List: ParsableCommand {
    static var configuration: CommandConfiguration {
      CommandConfiguration(
        abstract: "List the keys with id, creation time, state and the end of sealing. Never shows a secret.",
        discussion: "For a registration key, also shows in how many quarters it sealed ids, which end with it.")
    }

    @Option(help: ArgumentHelp("The file to read; default: standard input.", valueName: "file"))
    var file: String?

    func run() throws {
      var source = KeyFileOption()
      source.file = file
      let keys = try source.read()
      for key in keys.keys { Console.writeOutput(List.line(key)) }
      let now = SystemClock.unixTime()
      for key in keys.registrationKeys {
        Console.writeOutput("registration  " + List.line(key, quarters: keys.quartersOfIDs(of: key.id, now: now)))
      }
    }

    private static func line(_ key: SealingKey, quarters: Int = 0) -> String {
      var line = "\(key.id)  \(key.createdText)  \(key.state.rawValue)"
      if let end = key.sealedUntilText { line += "  sealed until \(end)" }
      if quarters > 0 { line += "  ids of \(Retire.quarters(quarters))" }
      return line + "\n"
    }
  }
}

/// The option for the key file that a command reads and changes. Without the option, the command reads standard input
/// and writes the changed keys to standard output.
struct KeyFileOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("The file to change; default: standard input and standard output.", valueName: "file"))
  var file: String?

  /// The name of the source in messages.
  var name: String { file ?? "standard input" }

  func read() throws -> KeyFile {
    do throws(KeySource.Failure) {
      guard let file else { return try KeySource.parse(InputFile.readStandardInput(), from: name) }
      return try KeySource.readKeyFile(file)
    } catch {
      for line in error.lines { Console.writeLine(line) }
      throw error.code
    }
  }

  /// Writes the keys. A file is replaced atomically: a reader sees either the old content or the new content.
  func write(_ keys: KeyFile) throws {
    guard let file else {
      Console.writeOutput(keys.render())
      return
    }
    do throws(IOError) {
      try SecretFile.replace(file, Array(keys.render().utf8))
    } catch {
      Console.reportError("\(file) cannot be written: \(error.withAdvice)")
      throw ExitCode.systemFailure
    }
  }
}
