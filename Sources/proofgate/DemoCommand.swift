import ArgumentParser
import Demo
import Gateway
import Proxy
import Reactor
import Stores
import Telemetry

/// The command `proofgate demo`: runs a legacy server, the gateway in front of it, and a native app. All run in this
/// process, on loopback ports.
struct DemoCommand: SignalHandlingCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "demo", abstract: "Show the gateway at work, on loopback ports of this machine.",
      discussion: """
        Prints a link to a small native app, which signs in through the gateway at a legacy server that supports \
        neither PKCE nor native apps. Control-C ends it. With --device and --agent, the gateway also serves a device \
        without a browser and an agent that registers itself; the legacy server supports neither.
        """)
  }

  @Flag(help: "Run the flows without a browser, print the steps, and exit.")
  var headless = false

  @Flag(help: "Show a device without a browser, too (RFC 8628).")
  var device = false

  @Flag(help: "Show an agent that registers itself, too (RFC 7591).")
  var agent = false

  @Option(
    help: ArgumentHelp("The gateway's port; 0 lets the kernel choose.", valueName: "port"),
    transform: DemoCommand.port)
  var port: UInt16 = 0

  @Option(help: ArgumentHelp("The file for the decision log; - is standard output. Default: none.", valueName: "file"))
  var log: String?

  func run() throws {
    let (port, log, headless) = (port, log, headless)
    var extras: DemoExtras = []
    if device { extras.insert(.device) }
    if agent { extras.insert(.agent) }
    let signals = try MainLoop.signals()
    try MainLoop(accepting: 1).run { [extras] worker in
      await DemoCommand.runDemo(worker.poller, signals, port: port, extras: extras, log: log, headless: headless)
    }
  }

  private static func port(_ text: String) throws(ValidationError) -> UInt16 {
    guard let port = UInt16(text) else { throw ValidationError("a port is a number from 0 to 65535") }
    return port
  }

  private static func runDemo(
    _ poller: Poller, _ signals: Signals, port: UInt16, extras: DemoExtras, log: String?, headless: Bool
  ) async -> ExitCode {
    let stage: DemoStage
    let writer: LogWriter?
    do {
      let metrics = MetricsRegistry(workers: 1, policyVersion: DemoPolicy.version)
      let decisions = try LogWriter(workers: 1, metrics: metrics)
      if let log { try decisions.start(LogWriter.destination(log)) }
      writer = log == nil ? nil : decisions
      let resources = GatewayResources(store: MemoryStore(), metrics: metrics, log: decisions.log)
      stage = try await DemoStage(port: port, extras: extras, resources: resources)
    } catch let error as ServerError {
      Console.reportError("\(error); choose another one with --port, or omit it")
      return .systemFailure
    } catch {
      Console.reportError("cannot start: \(error)")
      return .systemFailure
    }
    if let shortage = DescriptorShortage(workers: 1) {
      Console.reportError(shortage.description)
      return .systemFailure
    }
    let client = LoopbackClient(poller)
    if headless {
      let isColoured = ProcessControl.writesToTerminal
      let isAsExpected = await DemoStory.run(stage.participants, isColoured: isColoured) { address, request in
        try await client.send(address, request)
      } print: {
        Console.writeColoredOutput($0)
      }
      await writer?.stop(poller.waitClock)
      return isAsExpected ? .success : .failure
    }
    Console.writeOutput(stage.introduction)
    let waiter = Waiter(poller)
    do throws(IOError) {
      poller.start(
        try signals.deliver(on: poller) { signal in
          if signal == .terminate || signal == .interrupt { waiter.resume(.ready) }
        })
    } catch {
      Console.reportError("cannot receive signals: \(error)")
      return .systemFailure
    }
    _ = await waiter.sleep(until: .never)
    await writer?.stop(poller.waitClock)
    return .success
  }
}
