// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is held to the same rules: unsafe constructs are marked, a warning fails the build, and an
/// async function runs where its caller runs, so connection code stays on its worker.
let settings: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// The data path's classes are confined to one thread, which the compiler checks, so run-time exclusivity checks can find
/// nothing there that tests do not find: they stay on in debug builds and cost 32 % of the instructions of a proxied
/// request in release (docs/adr/0002). Its modules call each other's small functions many times for each request: they are
/// optimised together, which takes another 5 %.
let dataPath =
  settings + [
    .unsafeFlags(
      ["-enforce-exclusivity=unchecked", "-cross-module-optimization"], .when(configuration: .release))
  ]

/// The modules that the data path calls for each authorization and token request: optimised together with it, but with
/// run-time exclusivity checks.
let crossModule =
  settings + [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))]

/// The modules that proxied requests do not use: optimised for size, so that the binary stays small enough to be copied
/// into a sidecar (docs/performance.md).
let compact = settings + [.unsafeFlags(["-Osize"], .when(configuration: .release))]

func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil,
  settings: [SwiftSetting] = settings
) -> Target {
  .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
  name: "proofgate",
  products: [.executable(name: "proofgate", targets: ["proofgate"])],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
  ],
  targets: [
    // C libraries and the shim for what glibc's headers do not give to Swift.
    .target(name: "CLinux", cSettings: [.treatAllWarnings(as: .error)]),
    .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CNghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "CYAML", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),

    // Bytes as text: the scanning and decoding that all parsers share.
    module("ByteText", settings: crossModule),
    // Durations and points in time by their units, and the calendar.
    module("Time", settings: crossModule),
    // HTML whose values are escaped.
    module("Markup", ["ByteText", "Cryptography"], settings: crossModule),

    // The JSON of clients, servers and metadata documents.
    module("JSON", ["ByteText"], settings: crossModule),

    // The field: values and decisions, no I/O.
    module("OAuth", ["ByteText", "Cryptography", "Time"], settings: crossModule),
    module("Policy", ["OAuth", "PathReading", "ByteText", "Cryptography", "Time"], settings: crossModule),
    module("PathReading", ["ByteText"], settings: crossModule),
    module(
      "Enforcement", ["Policy", "OAuth", "PathReading", "ByteText", "Cryptography", "Time"], settings: crossModule),

    // Libraries behind a safe interface (docs/adr/0001).
    module("Cryptography", ["COpenSSL", "Time"], settings: dataPath),
    module("YAML", ["CYAML"], settings: compact),
    module("Compression", ["ByteText", "CZlib"]),
    module("SQLite", ["CSQLite"]),
    module("RESP", ["CHiredis"]),

    // What is kept and how it is sealed.
    module("Sealing", ["OAuth", "ByteText", "Cryptography", "Time"], settings: dataPath),
    module("Stores", ["OAuth", "Cryptography", "Time"], settings: crossModule),
    // The store in a file, with a thread of its own.
    module("DiskStore", ["Stores", "SQLite", "OAuth", "Cryptography", "Reactor", "Time"]),
    // The store of several replicas, on the loops of the workers.
    module(
      "RedisStore", ["RESP", "Stores", "Policy", "OAuth", "ByteText", "Cryptography", "Reactor", "TLS", "Time"],
      settings: dataPath),

    // The proxy: knows no OAuth.
    module("Reactor", ["CLinux", "Time"], settings: dataPath),
    module("TLS", ["Reactor", "Cryptography", "COpenSSL", "CLinux", "Time"], settings: dataPath),
    module("HTTP", ["ByteText", "Time"], settings: crossModule),
    module("HTTP1", ["ByteText"], settings: dataPath),
    module("HTTP2", ["CNghttp2", "Reactor", "ByteText", "Time"], settings: dataPath),
    module("Telemetry", ["ByteText", "Time"], settings: crossModule),
    // A line for each request, and the thread that writes the lines.
    module("AccessLog", ["Reactor", "Telemetry", "ByteText", "Time"], settings: dataPath),
    module(
      "Proxy",
      ["AccessLog", "Reactor", "TLS", "HTTP", "HTTP1", "HTTP2", "ByteText", "Compression", "Telemetry", "Time"],
      settings: dataPath),

    // Fetches client ID metadata documents.
    module(
      "ClientDocuments",
      ["JSON", "Stores", "OAuth", "ByteText", "Cryptography", "TLS", "HTTP1", "Reactor", "Time"]),

    // What the operator runs.
    module(
      "Gateway",
      [
        "AccessLog", "ClientDocuments", "JSON", "Markup",
        "Enforcement", "PathReading", "Policy", "OAuth", "Sealing", "Stores", "ByteText", "Cryptography", "Proxy",
        "TLS", "HTTP", "HTTP1", "HTTP2", "Reactor", "Telemetry", "Time",
      ],
      // The program contains the texts of its pages, because it is one file.
      resources: [.embedInCode("Texts/de.json"), .embedInCode("Texts/en.json")], settings: dataPath),
    module(
      "Admin",
      [
        "Rollout", "Markup", "JSON", "Telemetry", "Policy", "OAuth", "HTTP", "HTTP1", "Proxy", "TLS", "Reactor",
        "Compression", "ByteText", "Cryptography", "Time",
      ], resources: [.embedInCode("Texts/de.json")], settings: compact),
    module("PolicyFile", ["Policy", "OAuth", "YAML", "ByteText", "Cryptography", "Time"], settings: compact),

    // Decides requests without a gateway: for `proofgate explain`, `test` and `diff`.
    module(
      "Evaluation",
      ["Gateway", "PolicyFile", "YAML", "Enforcement", "PathReading", "Policy", "OAuth", "JSON", "ByteText"],
      settings: compact),

    // Clients and refusals of logs: for `proofgate learn` and `readiness`.
    module("Rollout", ["OAuth", "JSON"], settings: compact),

    // Finds out how a server behaves: for `proofgate probe`.
    module(
      "Probe",
      [
        "Gateway", "Rollout", "Policy", "OAuth", "JSON", "HTTP", "HTTP1", "TLS", "Reactor", "ByteText", "Cryptography",
        "Time",
      ], settings: compact),

    // The content of `proofgate demo`: a server without PKCE, an app, a browser and a user.
    module(
      "LegacyServer", ["Proxy", "Reactor", "HTTP", "HTTP1", "OAuth", "ByteText", "Cryptography", "Time"],
      settings: compact),
    module(
      "Demo",
      [
        "LegacyServer", "Gateway", "Markup", "Sealing", "Policy", "OAuth", "Proxy", "HTTP", "HTTP1", "TLS", "Reactor",
        "ByteText", "Cryptography", "Time",
      ], settings: compact),
    .executableTarget(
      name: "proofgate",
      dependencies: [
        "AccessLog", "Gateway", "Admin", "Evaluation", "Rollout", "Probe", "Compression", "OAuth", "PolicyFile",
        "Enforcement", "Demo",
        "LegacyServer", "ClientDocuments",
        "Proxy", "Reactor",
        "TLS",
        "HTTP", "HTTP2", "Policy", "Sealing", "Stores", "DiskStore", "RedisStore", "SQLite", "RESP", "Telemetry",
        "ByteText", "Cryptography", "Time", "YAML", "JSON",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: compact),

    // The known answers of the field's standards.
    .target(
      name: "VectorsTestSupport", path: "Tests/VectorsTestSupport", exclude: ["vectors.json"], swiftSettings: settings),
    tests("OAuthTests", ["VectorsTestSupport", "OAuth", "ByteText"]),
    tests("CryptographyTests", ["TLSTestSupport", "Cryptography", "ByteText"]),
    tests("PolicyFileTests", ["TLSTestSupport", "Cryptography", "PolicyFile", "Policy", "OAuth", "Time", "YAML"]),
    tests("PathReadingTests", ["DiceTestSupport", "PathReading", "Policy"]),
    tests("EnforcementTests", ["Enforcement", "Policy", "OAuth", "ByteText", "Time"]),
    tests("EvaluationTests", ["Evaluation", "PolicyFile", "Enforcement", "Policy", "OAuth"]),
    tests("RolloutTests", ["Rollout"]),
    tests(
      "ProbeTests",
      [
        "ClientTestSupport", "PortTestSupport", "TLSTestSupport", "Probe", "Demo", "LegacyServer", "Gateway",
        "PolicyFile", "Policy", "OAuth", "TLS", "HTTP", "Reactor", "Time",
      ]),
    tests("SealingTests", ["DiceTestSupport", "Sealing", "OAuth", "ByteText", "Cryptography", "Time"]),
    tests(
      "StoresTests",
      [
        "DiceTestSupport", "RedisTestSupport", "Stores", "DiskStore", "RedisStore", "SQLite", "Policy", "OAuth",
        "Reactor", "Time",
      ]),
    // Puts load on a store, for Tests/Stores.
    .executableTarget(
      name: "StoreLoad", dependencies: ["DiskStore", "Stores", "OAuth", "Reactor", "Telemetry", "Time"],
      path: "Tests/StoreLoad", swiftSettings: settings),
    tests("RESPTests", ["RESP"]),
    // Random numbers that a seed repeats.
    .target(name: "DiceTestSupport", path: "Tests/DiceTestSupport", swiftSettings: settings),
    // Ports that tests know before a server binds them.
    .target(name: "PortTestSupport", path: "Tests/PortTestSupport", swiftSettings: settings),
    // Redis servers that tests start.
    .target(
      name: "RedisTestSupport", dependencies: ["PortTestSupport", "RedisStore", "Stores", "Policy", "Reactor", "Time"],
      path: "Tests/RedisTestSupport", swiftSettings: settings),
    tests(
      "RedisStoreTests",
      [
        "PortTestSupport", "RedisTestSupport", "TLSTestSupport", "RedisStore", "RESP", "Stores", "Policy", "OAuth",
        "Cryptography", "Reactor", "Time",
      ]),
    tests("TelemetryTests", ["Telemetry"]),
    tests("AccessLogTests", ["ClientTestSupport", "AccessLog", "Rollout", "Telemetry", "Reactor", "Time"]),
    tests("ReactorTests", ["DiceTestSupport", "Reactor", "Time"]),
    tests("ByteTextTests", ["ByteText", "Cryptography"]),
    tests("TimeTests", ["Time"]),
    tests("JSONTests", ["JSON"]),
    tests("MarkupTests", ["Markup"]),
    tests("CompressionTests", ["Compression"]),
    tests("HTTP1Tests", ["DiceTestSupport", "HTTP1", "HTTP", "Time"]),
    // Frames as a test writes and reads them.
    .target(
      name: "HTTP2TestSupport", dependencies: ["CNghttp2"], path: "Tests/HTTP2TestSupport", swiftSettings: settings),
    tests("HTTP2Tests", ["HTTP2TestSupport", "HTTP2", "Reactor", "Time"]),
    tests("TLSTests", ["TLSTestSupport", "TLS", "Cryptography", "Time"]),
    tests(
      "ProxyTests",
      [
        "DiceTestSupport", "HTTP2TestSupport", "PortTestSupport", "TLSTestSupport", "TLS", "Proxy", "AccessLog",
        "Compression", "Reactor", "HTTP", "HTTP1", "HTTP2", "Telemetry", "Time",
      ]),
    tests(
      "ClientDocumentsTests",
      ["TLSTestSupport", "ClientDocuments", "OAuth", "Cryptography", "TLS", "Reactor", "Time"]),
    tests("LegacyServerTests", ["Demo", "LegacyServer", "OAuth", "HTTP", "Time"]),
    tests(
      "DemoTests", ["Demo", "Gateway", "Markup", "LegacyServer", "OAuth", "HTTP", "ByteText", "Cryptography", "Time"]),
    tests(
      "AdminTests",
      [
        "ClientTestSupport", "PortTestSupport", "Admin", "Rollout", "JSON", "Markup", "Cryptography", "Compression",
        "Policy", "OAuth", "Telemetry", "LegacyServer", "Proxy", "Reactor", "HTTP", "Time",
      ]),
    tests(
      "CLITests",
      [
        "ClientTestSupport", "GatewayTestSupport", "PortTestSupport", "TLSTestSupport", "proofgate", "Demo",
        "LegacyServer", "OAuth", "Compression", "Cryptography", "Reactor", "HTTP", "Telemetry", "Time", "PathReading",
      ]),
    // Certificates that tests trust.
    .target(
      name: "TLSTestSupport", dependencies: ["TLS", "Cryptography"], path: "Tests/TLSTestSupport",
      swiftSettings: settings),
    // A gateway before a recording upstream, for every test that needs a whole one.
    .target(
      name: "ClientTestSupport", dependencies: ["Demo", "LegacyServer", "Reactor", "HTTP"],
      path: "Tests/ClientTestSupport", swiftSettings: settings),
    .target(
      name: "GatewayTestSupport",
      dependencies: [
        "Demo", "Gateway", "LegacyServer", "PolicyFile", "Policy", "Enforcement", "Sealing", "Stores", "OAuth",
        "Telemetry",
        "Proxy", "Reactor", "TLS", "HTTP", "HTTP1", "Time",
      ], path: "Tests/GatewayTestSupport", swiftSettings: settings),
    tests(
      "GatewayTests",
      [
        "DiceTestSupport", "GatewayTestSupport", "HTTP2TestSupport", "RedisTestSupport", "TLSTestSupport", "Gateway",
        "Evaluation", "Compression", "Enforcement", "DiskStore", "RedisStore", "JSON", "Markup",
        "Demo", "LegacyServer", "PathReading", "Policy",
        "PolicyFile", "Sealing", "Stores", "OAuth", "TLS", "Telemetry", "ByteText", "Cryptography", "Proxy", "Reactor",
        "HTTP", "HTTP1", "HTTP2", "Time",
      ]),
    // Each clause of docs/conformance.tsv, against a running gateway. Names begin with the clauses that they prove.
    tests(
      "ConformanceTests",
      [
        "VectorsTestSupport", "GatewayTestSupport", "RedisTestSupport", "TLSTestSupport", "Demo", "Gateway",
        "Enforcement", "LegacyServer", "Policy", "PolicyFile", "Sealing", "Stores", "DiskStore", "RedisStore", "OAuth",
        "TLS", "Markup", "ByteText", "Cryptography", "HTTP", "Reactor", "Telemetry", "Time", "proofgate",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
  ]
)

// The parsers' properties (Tests/Fuzz/README.md): libFuzzer runs them where `make fuzz` asks for that, because the program
// needs the fuzzer's run-time library, and every other build replays the committed corpus as a test.
let fuzzed: [Target.Dependency] = [
  "HTTP1", "HTTP2", "HTTP2TestSupport", "Compression", "Proxy", "Reactor", "PathReading", "Policy", "PolicyFile",
  "YAML", "OAuth",
  "Sealing", "ClientDocuments", "JSON", "Gateway", "HTTP", "AccessLog",
]
if Context.environment["PROOFGATE_FUZZ"] == nil {
  package.targets.append(
    .testTarget(
      name: "FuzzTests", dependencies: fuzzed, path: "Tests/Fuzz",
      exclude: ["Corpus", "FuzzDriver.swift", "README.md", "run"],
      swiftSettings: settings))
} else {
  package.targets.append(
    .executableTarget(
      name: "Fuzz", dependencies: fuzzed, path: "Tests/Fuzz",
      exclude: ["Corpus", "CorpusTests.swift", "README.md", "run"],
      swiftSettings: settings))
}
