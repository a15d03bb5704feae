import ArgumentParser
import DiskStore
import FoundationEssentials

/// `proofgate store`: checks or replaces the file of `gateway.store`.
struct StoreCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "store", abstract: "Check or reset the file of a store.",
      discussion: "Only one process can use the file: stop the gateway first.",
      subcommands: [Check.self, Reset.self])
  }

  /// `proofgate store check PATH`.
  struct Check: ParsableCommand {
    static var configuration: CommandConfiguration {
      CommandConfiguration(abstract: "Read the whole file; exit 1 if it is damaged.")
    }

    @Argument(help: ArgumentHelp("The file, as in `gateway.store`.", valueName: "path"))
    var path: String

    func run() throws {
      do throws(FileStoreError) {
        let report = try FileStore.check(path)
        for line in report.lines { Console.writeOutput("\(line)\n") }
        Console.inform("the store \(path) is not damaged")
      } catch {
        throw error.report()
      }
    }
  }

  /// `proofgate store reset PATH`.
  struct Reset: ParsableCommand {
    static var configuration: CommandConfiguration {
      CommandConfiguration(
        abstract: "Replace the file by an empty store with a new epoch.",
        discussion: """
          After that, each earlier family of refresh tokens can be refreshed once more, and codes that were sealed before \
          are refused for the lifetime of a code.
          """)
    }

    @Argument(help: ArgumentHelp("The file, as in `gateway.store`.", valueName: "path"))
    var path: String

    func run() throws {
      do throws(FileStoreError) {
        let isNew = !FileManager.default.fileExists(atPath: path)
        let old = try FileStore.reset(path)
        Console.inform("the store \(path) is empty and begins an epoch")
        if isNew { Console.warn("there was no file \(path) before; is the path that of `gateway.store`?") }
        if let old { Console.inform("the old file is kept as \(old), because it is not recognised as a store") }
      } catch {
        throw error.report()
      }
    }
  }
}

extension FileStoreError {
  /// Shows the error and returns the exit code.
  fileprivate func report() -> ExitCode {
    Console.reportError(description)
    return exitCode
  }
}
