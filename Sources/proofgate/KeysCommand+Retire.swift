import ArgumentParser
import FoundationEssentials
import Gateway
import PolicyFile
import Reactor
import Sealing
import Time

extension KeysCommand {
  /// `proofgate keys retire ID`.
  struct Retire: ParsableCommand {
    static var configuration: CommandConfiguration {
      CommandConfiguration(
        abstract: "Retire a key: values that it sealed are refused from then on.",
        discussion: """
          Refuses while a value that the key sealed may be valid. This is the time from the moment at which another key \
          began to seal: the longest lifetime of a sealed value, and one day more, in which every replica has to load \
          the other key.
          """)
    }

    @Argument(help: ArgumentHelp("The key's id, as in the file.", valueName: "id"))
    var id: String

    @OptionGroup var source: KeyFileOption

    @Option(
      help: ArgumentHelp(
        "The policy whose lifetimes count; default: the longest that any policy may set.", valueName: "file"))
    var policy: String?

    @Flag(name: .customLong("now"), help: "Retire the key now. Sign-ins, codes and refresh tokens that it sealed end.")
    var isForced = false

    func validate() throws {
      guard KeyID(id) == nil else { return }
      // Without a file, the suggestion would have to wait for standard input.
      let keys = source.file.flatMap { try? KeySource.readKeyFile($0) }
      throw ValidationError("`\(id)` is not a key id (eight lower-case hexadecimal digits); \(advice(keys))")
    }

    func run() throws {
      guard let key = KeyID(id) else { return }
      let lifetime = try longestLifetime()
      var keys = try source.read()
      let time = SystemClock.unixTime()
      if let registration = keys.registrationRetirement(of: key, now: time) {
        return try retire(key, registration, in: &keys)
      }
      let sentence: String
      switch keys.retirement(of: key, lifetime: lifetime.duration) {
      case .unknownKey: throw reportRefusal("there is no key \(key) in \(source.name); \(advice(keys))")
      case .sealingKey: throw reportRefusal("key \(key) seals; rotate until another one does, then retire it")
      case .retired: sentence = "key \(key) is already retired"
      case .unused: sentence = "key \(key) is retired; it has sealed nothing"
      case .possible(let from, _) where from <= time:
        sentence = "key \(key) is retired; no value that it sealed is valid any more"
      case .possible where isForced, .unrecorded where isForced:
        sentence =
          "key \(key) is retired; from the next reload on, sign-ins in progress, codes and refresh tokens that it "
          + "sealed are refused, and their users have to sign in again"
      case .possible(let from, let sealedUntil):
        throw reportRefusal(
          "key \(key) can be retired from \(from.text) on: it sealed until \(sealedUntil.text), a replica may load "
            + "the next key up to \(Retire.text(KeyFile.reloadTime)) later, and a value is valid for up to "
            + "\(Retire.text(lifetime.duration)) (\(lifetime.origin))", canBeForced: true)
      case .unrecorded:
        throw reportRefusal(
          "\(source.name) does not record until when key \(key) sealed; add the time of its rotation as the fifth "
            + "field of its line, for example `2026-11-21T08:30:00Z`", canBeForced: true)
      }
      _ = keys.retire(key)
      try source.write(keys)
      Console.inform(sentence)
    }

    /// Returns what to do if no key of the file has the id of the arguments.
    private func advice(_ keys: KeyFile?) -> String {
      let known = keys.map { ($0.keys + $0.registrationKeys).map(\.id.description) } ?? []
      let near = EditDistance.nearest(to: id, among: known).map { "did you mean `\($0)`?" }
      return near ?? "`proofgate keys list` shows the ids"
    }

    /// Retires a registration key. The ids that it sealed have no expiry, so this always needs `--now`, unless the key
    /// has sealed none.
    private func retire(
      _ key: KeyID, _ registration: KeyFile.RegistrationRetirement, in keys: inout KeyFile
    ) throws {
      let quarters = Retire.quarters(registration.quarters)
      let sentence: String
      switch registration.retirement {
      case .unknownKey, .sealingKey:
        throw reportRefusal("registration key \(key) seals; rotate until another one does, then retire it")
      case .retired: sentence = "registration key \(key) is already retired"
      case .unused: sentence = "registration key \(key) is retired; it has sealed nothing"
      case .possible, .unrecorded:
        guard isForced else {
          throw reportRefusal(
            "the client ids of \(quarters) end with registration key \(key); their clients have to register again; "
              + "`--now` retires it")
        }
        sentence = "registration key \(key) is retired; the client ids of \(quarters) end with the next reload"
      }
      _ = keys.retire(key)
      try source.write(keys)
      Console.inform(sentence)
    }

    static func quarters(_ count: Int) -> String { count == 1 ? "one quarter" : "\(count) quarters" }

    private func longestLifetime() throws -> SealedLifetime {
      guard let policy else { return .ofAnyPolicy }
      let sources = PolicySources(environment: ProcessInfo.processInfo.environment, readsSecrets: false)
      let outcome = PolicyFile.load(path: policy, sources)
      guard let loaded = outcome.policy else {
        let errors = outcome.diagnostics.filter { $0.severity == .error }
        for error in errors { Console.writeLine(error.description) }
        throw errors.errorExitCode
      }
      return .longest(under: loaded)
    }

    /// Reports the reason why the key is not retired, and returns the exit code.
    ///
    /// - Parameter canBeForced: true if the command would retire the key with `--now`.
    private func reportRefusal(_ reason: String, canBeForced: Bool = false) -> ExitCode {
      Console.reportError(reason)
      if canBeForced {
        if policy == nil { Console.inform("`--policy FILE` counts with the lifetimes of that policy") }
        Console.inform(
          "`--now` retires the key at once: sign-ins in progress, codes and refresh tokens that it sealed end, and "
            + "their users have to sign in again")
      }
      return .policyErrors
    }

    /// Returns the text of a duration in the largest unit that gives a whole number.
    private static func text(_ time: Seconds) -> String {
      for (unit, length) in [("d", 86_400), ("h", 3_600), ("min", 60)] where time.count.isMultiple(of: length) {
        return "\(time.count / length) \(unit)"
      }
      return "\(time.count) s"
    }
  }
}
