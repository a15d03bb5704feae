import AccessLog
import Admin
import ArgumentParser
import DiskStore
import Gateway
import Policy
import Proxy
import Reactor
import Synchronization
import TLS
import Telemetry
import Time

/// Runs the gateway from start to end. The service itself runs on the event loop of the main thread. The workers have
/// their own threads.
final class Service {
  let poller: Poller
  private let source: PolicySource
  private let logDestination: LogFile.Destination
  private let manager: ServiceManager
  /// The configuration in force.
  private var configuration: Configuration
  /// The keys of TLS session tickets. A reload keeps them, so that clients can resume their sessions.
  private let ticketKeys = TicketKeys()
  private let upstreamTLS = CurrentUpstreamTLS()
  private let waiter: Waiter
  /// The watch of the policy's files; `nil` without `--watch`.
  private let policyWatch: PolicyWatch?
  /// The cause of a reload that has not begun; `nil` if no reload is wanted.
  private var wantedReload: ReloadReport.Reason?
  private var isReloading = false
  private var isEnding = false

  /// The current TLS settings for the upstream. The thread of the admin server reads them too.
  private final class CurrentUpstreamTLS: Sendable {
    let client = Mutex<TLSClient?>(nil)
  }

  /// The objects that exist only after the service has started.
  private struct Parts {
    let gateway: GatewayServer
    let admin: AdminServer?
    let status: ProcessStatus
    let metrics: MetricsRegistry
    let writer: LogWriter
    let upstreamWatch: UpstreamWatch
    let accessLog: AccessLog
    let store: ConfiguredStore
    let kept: KeptListeners
  }

  init(
    _ poller: Poller, _ source: PolicySource, _ configuration: Configuration, log: LogFile.Destination,
    _ policyWatch: PolicyWatch?
  ) {
    self.policyWatch = policyWatch
    self.poller = poller
    self.source = source
    self.configuration = configuration
    logDestination = log
    manager = ServiceManager(environment: source.environment, process: ProcessControl.identifier)
    waiter = Waiter(poller)
  }

  /// Runs the gateway until a signal ends it. Returns the exit code of the process.
  func run(_ signals: Signals) async -> ExitCode {
    let parts: Parts
    do {
      parts = try await start()
      poller.start(try signals.deliver(on: poller) { self.handle($0, parts) })
      try startReloadTriggers(parts)
      // Now all sockets of an idle process are open.
      try Service.requireDescriptors(workers: parts.gateway.server.group.workers.count)
    } catch let error as ServerError {
      Console.reportError(error.description)
      return .systemFailure
    } catch let error as TLSError {
      Console.reportError("the TLS settings of the policy cannot be used: \(error)")
      return .policyErrors
    } catch let error as FileStoreError {
      Console.reportError(error.description)
      return error.exitCode
    } catch let error as InheritedSocket.Failure {
      Console.reportError(error.description)
      return .policyErrors
    } catch let error as StartFailure {
      Console.reportError(error.text)
      return .systemFailure
    } catch {
      Console.reportError("cannot start: \(error)")
      return .systemFailure
    }
    // From here on, this thread handles signals. A blocked write to standard error must not delay the signals.
    Console.writeInBackground()
    announce(parts)
    for warning in parts.kept.update(for: configuration.policy) { Console.warn(warning) }
    reportReady()
    if let interval = manager.watchdogInterval {
      poller.start(Watchdog(poller, manager, parts.status, every: interval))
    }
    poller.start(
      UpstreamNotice(
        poller, configuration.policy.upstream, upstreamTLS.client.withLock { $0 }, parts.upstreamWatch))
    ProcessControl.releaseCodePages()
    ProcessControl.releaseMemory()
    while !isEnding {
      if let reason = wantedReload, !isReloading {
        wantedReload = nil
        isReloading = true
        manager.reportReloading(at: SystemClock.monotonicInstant().nanoseconds)
        // The reload is a separate activity, so that the service can end while a large policy is being read.
        poller.start(Reload(self, parts, reason))
      } else {
        _ = await waiter.sleep(until: .never)
      }
    }
    await end(parts)
    return .success
  }

  // MARK: Start

  private func start() async throws -> Parts {
    let policy = configuration.policy
    let inherited = try InheritedListeners.taken(for: policy, from: manager, environment: source.environment)
    let tls = try GatewayTLS(policy, tickets: ticketKeys)
    upstreamTLS.client.withLock { $0 = tls.upstream }
    let workers = policy.gateway.workers ?? Processors.usable
    try Service.requireDescriptors(workers: workers)
    let metrics = MetricsRegistry(workers: workers, policyVersion: policy.version)
    let writer = try LogWriter(workers: workers, metrics: metrics)
    let spool = try Service.spool(policy.gateway)
    do throws(IOError) {
      try writer.start(logDestination, spool: spool)
    } catch {
      guard case .file(let path) = logDestination else { throw error }
      throw StartFailure(text: "the log file \(path) cannot be written: \(error); name another with --log")
    }
    let status = ProcessStatus(
      version: Version.number, libraries: Version.libraries, metrics: metrics, policy: policy,
      startTime: SystemClock.timestamp())
    let upstream = UpstreamServers(policy.upstream.locations)
    var admin: AdminServer?
    if let address = policy.gateway.admin {
      admin = try await AdminServer(
        address: try Service.ipAddress(address), status: status, upstream: upstream, inherited: inherited
      ) { [upstreamTLS] in upstreamTLS.client.withLock { $0 } }
    }
    let memory = BufferMemory(
      memoryLimit: ControlGroups.ofThisProcess.memory, configuredValue: policy.gateway.limits.maxBufferMemory)
    if let note = memory.note { memory.isWarning ? Console.warn(note) : Console.inform(note) }
    let store = try ConfiguredStore(policy.gateway)
    let resources = GatewayResources(
      store: store.store, startStore: store.start, metrics: metrics, log: writer.log,
      isEpochStrict: policy.gateway.storeEpochRule == .strict, bufferMemory: memory.defaultValue,
      notice: { Console.warn($0) })
    if let log = policy.gateway.accessLog {
      do throws(IOError) {
        try resources.accessLog.use(try log.open())
      } catch {
        throw StartFailure(text: Service.problem(of: log, error))
      }
    }
    let gateway = try await GatewayServer(
      policy: policy, keyRing: configuration.keyRing, tls: tls, workers: workers, resources: resources,
      upstream: upstream, inherited: inherited)
    metrics.setCertificates(gateway.certificates.map(\.expiry))
    status.beginServing(gateway.server.group.workers.map(\.loop))
    return Parts(
      gateway: gateway, admin: admin, status: status, metrics: metrics, writer: writer,
      upstreamWatch: resources.upstreamWatch, accessLog: resources.accessLog, store: store,
      kept: KeptListeners(manager, gateway.listeners + (admin?.listeners ?? [])))
  }

  private static func spool(_ gateway: GatewaySettings) throws(StartFailure) -> sending SpoolFile? {
    guard let path = gateway.logSpool else { return nil }
    do throws(IOError) {
      return try SpoolFile(path: path, limit: gateway.logSpoolSize)
    } catch {
      throw StartFailure(text: "the file \(path) of `log_spool` cannot be used: \(error)")
    }
  }

  private static func problem(of log: AccessLogSettings, _ error: IOError) -> String {
    let other = "name another destination in `gateway.access_log`"
    return switch log.destination {
    case .standardOutput: "the access log cannot be written to standard output: \(error); \(other)"
    case .file(let path): "the access log \(path) cannot be opened: \(error); \(other)"
    case .syslog(let syslog):
      "no syslog server receives the access log at \(syslog.path): \(error); start the server, or \(other)"
    }
  }

  private struct StartFailure: Error {
    let text: String
  }

  private static func requireDescriptors(workers: Int) throws(StartFailure) {
    if let shortage = DescriptorShortage(workers: workers) { throw StartFailure(text: shortage.description) }
  }

  private static func ipAddress(_ address: SocketAddress) throws(StartFailure) -> Address {
    guard let literal = Address(literal: address.host, port: address.port) else {
      throw StartFailure(text: "\(address) is not an address to listen on; write an IP address and a port")
    }
    return literal
  }

  private static func resolver(_ policy: Policy) -> Resolver {
    Resolver(host: policy.upstream.origin.host, port: policy.upstream.origin.port)
  }

  private func announce(_ parts: Parts) {
    let policy = configuration.policy
    for line in CertificateReport(parts.gateway.certificates, previous: []).lines { Console.inform(line) }
    let addresses = parts.gateway.server.names.joined(separator: ", ")
    let workers = parts.gateway.server.group.workers.count
    let admin = parts.admin?.address.map { ", admin on \($0)" } ?? ""
    Console.inform(
      "\(Version.number) serves \(policy.gateway.origin) on \(addresses)\(admin), \(Service.counted(workers, "worker")), "
        + "policy \(policy.version) with \(Service.counted(policy.clients.count, "client"))")
  }

  /// Informs the service manager that the gateway serves, at the start and after each reload.
  private func reportReady() {
    let policy = configuration.policy
    let status = "policy \(policy.version) with \(Service.counted(policy.clients.count, "client"))"
    guard let error = manager.reportReady(status) else { return }
    Console.warn("the service manager cannot be informed: \(error)")
  }

  private static func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }

  // MARK: Signals

  private func handle(_ signal: Signals.Signal, _ parts: Parts) {
    switch signal {
    case .hangup:
      parts.writer.log.reopen()
      parts.accessLog.reopen()
      wantedReload = .signal
    case .user1:
      parts.writer.log.reopen()
      parts.accessLog.reopen()
    case .terminate, .interrupt:
      if isEnding {
        ProcessControl.exitNow(Int((signal == .terminate ? ExitCode.terminated : ExitCode.interrupted).rawValue))
      }
      isEnding = true
      parts.status.beginDraining()
    }
    waiter.resume(.ready)
  }

  // MARK: Reload

  /// Starts the activities that ask for a reload, except that of the signals.
  private func startReloadTriggers(_ parts: Parts) throws(IOError) {
    poller.start(
      ReloadListener(poller, parts.status.reloads) { [self] in
        wantedReload = .admin
        waiter.resume(.ready)
      })
    guard let policyWatch else { return }
    policyWatch.include(configuration.files)
    policyWatch.start { [self] in
      wantedReload = wantedReload ?? .file
      waiter.resume(.ready)
    }
  }

  private final class Reload: Activity {
    private let service: Service
    private let parts: Parts
    private let reason: ReloadReport.Reason

    init(_ service: Service, _ parts: Parts, _ reason: ReloadReport.Reason) {
      self.service = service
      self.parts = parts
      self.reason = reason
    }

    func run() async {
      let requests = parts.status.reloads.take()
      let report = await service.reload(parts, reason)
      if let report { parts.status.recordReload(report, at: SystemClock.timestamp()) }
      for request in requests { request.deliver(report) }
      service.isReloading = false
      if !service.isEnding { service.reportReady() }
      service.waiter.resume(.ready)
    }
  }

  /// Reloads the policy. Returns `nil` if the process ends meanwhile.
  private func reload(_ parts: Parts, _ reason: ReloadReport.Reason) async -> ReloadReport? {
    let source = source
    let current = configuration.policy
    let loaded: Result<LoadedConfiguration, Configuration.Failure>
    do throws(IOError) {
      // This runs on another thread, because reading a large policy takes about a second.
      loaded = try await poller.runOnThread("reload") {
        ProcessControl.lowerPriority()
        return source.load().map { LoadedConfiguration($0, replacing: current) }
      }
    } catch {
      return refuseReload(.conflict, reason, ["proofgate: error: no thread for the reload: \(error)"], parts)
    }
    guard !isEnding else { return nil }
    switch loaded {
    case .failure(let failure):
      policyWatch?.include(failure.files)
      return refuseReload(.errors, reason, failure.lines, parts)
    case .success(let loaded):
      policyWatch?.include(loaded.configuration.files)
      return await adopt(loaded, parts, reason)
    }
  }

  private func adopt(
    _ loaded: LoadedConfiguration, _ parts: Parts, _ reason: ReloadReport.Reason
  ) async -> ReloadReport {
    let next = loaded.configuration
    let changes = RestartChanges(from: configuration.policy, to: next.policy)
    if let refusal = changes.refusal {
      return refuseReload(.conflict, reason, next.warnings + ["proofgate: error: \(refusal)"], parts)
    }
    let tls: GatewayTLS
    do throws(TLSError) {
      tls = try GatewayTLS(next.policy, tickets: ticketKeys)
    } catch {
      let line = "proofgate: error: the TLS settings cannot be used: \(error)"
      return refuseReload(.errors, reason, next.warnings + [line], parts)
    }
    if let log = next.policy.gateway.accessLog {
      do throws(IOError) {
        try parts.accessLog.use(try log.open())
      } catch {
        let line = "proofgate: error: \(Service.problem(of: log, error))"
        return refuseReload(.errors, reason, next.warnings + [line], parts)
      }
    }
    Console.use(next.policy.gateway.notices)
    for line in next.warnings { Console.writeLine(line) }
    if let warning = changes.warning { Console.warn(warning) }
    let previous = parts.gateway.certificates
    await parts.gateway.reload(loaded.snapshot, tls: tls)
    // Only now no worker appends lines any more. Nothing is opened, so this cannot fail.
    if next.policy.gateway.accessLog == nil { try? parts.accessLog.use(nil) }
    let certificates = CertificateReport(parts.gateway.certificates, previous: previous)
    parts.metrics.setCertificates(parts.gateway.certificates.map(\.expiry))
    upstreamTLS.client.withLock { $0 = tls.upstream }
    parts.status.replacePolicy(next.policy)
    let isSame = next.policy.version == configuration.policy.version
    let retired = RetiredConfiguration(configuration)
    configuration = next
    parts.metrics.policyReloaded(version: next.policy.version)
    for warning in parts.kept.update(for: next.policy) { Console.warn(warning) }
    for line in certificates.lines { Console.inform(line) }
    Console.inform(
      "policy \(next.policy.version) with \(Service.counted(next.policy.clients.count, "client"))"
        + "\(certificates.summary) in force")
    for line in loaded.settingChanges + loaded.decisionChanges { Console.inform(line) }
    await release(retired)
    return ReloadReport(
      isSame ? .unchanged : .adopted, reason, policy: next.policy.version, clients: next.policy.clients.count,
      changes: loaded.decisionChanges, settings: loaded.settingChanges,
      warnings: next.warnings + (changes.warning.map { [$0] } ?? []))
  }

  /// A configuration with the snapshot that the workers use. The thread of the reload creates both.
  private struct LoadedConfiguration: Sendable {
    let configuration: Configuration
    let snapshot: GatewaySnapshot
    /// The decisions that the new policy changes, one line each.
    let decisionChanges: [String]
    /// The settings that the new policy changes, one line each.
    let settingChanges: [String]

    init(_ configuration: Configuration, replacing current: Policy) {
      self.configuration = configuration
      snapshot = GatewaySnapshot(policy: configuration.policy, keyRing: configuration.keyRing)
      settingChanges = ReloadSummary.settings(from: current, to: configuration.policy)
      decisionChanges = ReloadSummary.lines(from: current, to: configuration.policy)
    }
  }

  /// The configuration that a reload has replaced. Another thread frees it, because freeing a large policy takes long.
  private final class RetiredConfiguration: Sendable {
    private let configuration: Mutex<Configuration?>

    init(_ configuration: Configuration) { self.configuration = Mutex(configuration) }

    func release() { configuration.withLock { $0 = nil } }
  }

  private func release(_ retired: RetiredConfiguration) async {
    do throws(IOError) {
      try await poller.runOnThread("release") {
        ProcessControl.lowerPriority()
        retired.release()
      }
    } catch {
      retired.release()
    }
    // This runs at normal priority, because it holds locks of the allocator for which workers may wait.
    ProcessControl.releaseMemory()
  }

  private func refuseReload(
    _ result: ReloadReport.Result, _ reason: ReloadReport.Reason, _ lines: [String], _ parts: Parts
  ) -> ReloadReport {
    for line in lines { Console.writeLine(line) }
    parts.metrics.policyReloadFailed()
    let policy = configuration.policy
    Console.reportError("reload refused; policy \(policy.version) stays in force")
    return ReloadReport(result, reason, policy: policy.version, clients: policy.clients.count, errors: lines)
  }

  // MARK: End

  private func end(_ parts: Parts) async {
    let gateway = configuration.policy.gateway
    manager.reportStopping(within: gateway.drainTimeout)
    parts.status.reloads.close()
    Console.inform("draining, for at most \(gateway.drainTimeout.count) ms")
    let kept = parts.kept.names
    let closedCount = await parts.gateway.server.drain(
      delay: gateway.drainDelay, timeout: max(0, gateway.drainTimeout - gateway.drainDelay), leaving: kept,
      clock: poller.waitClock)
    await parts.gateway.stopChecks(leaving: kept)
    await parts.writer.stop(poller.waitClock)
    if !(await parts.accessLog.stop(poller.waitClock)) {
      Console.warn("the end of the access log could not be written within 5 s")
    }
    await parts.admin?.stop(leaving: kept)
    await parts.store.close(poller.waitClock)
    Console.inform(closedCount == 0 ? "ended" : "ended; \(Service.counted(closedCount, "connection")) had to be cut")
    await Console.flush(poller.waitClock)
  }
}
