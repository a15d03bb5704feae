import ArgumentParser
import PolicyFile
import Probe
import Reactor

/// Prints the report of `proofgate probe`, and writes its policy.
struct ProbeOutput {
  let path: String?
  let replaces: Bool
  let isJSON: Bool

  func write(_ report: ProbeReport) throws(ExitCode) {
    do {
      Console.writeOutput(isJSON ? try EvaluatedPolicy.json(report) : report.text)
    } catch {
      Console.reportError("the report cannot be written as JSON: \(error)")
      throw .systemFailure
    }
    guard let path else { return }
    let policy = UpstreamBlock(report).policy
    let sources = PolicySources(environment: [:], standardInput: Array(policy.utf8), readsSecrets: false)
    let errors = PolicyFile.load(path: PolicySources.standardInputPath, sources).diagnostics.filter {
      $0.severity == .error
    }
    guard errors.isEmpty else {
      Console.reportError("\(path) was not written, because the policy would have errors:")
      for error in errors { Console.writeLine(error.description) }
      throw .policyErrors
    }
    do throws(IOError) {
      if replaces {
        try SecretFile.replace(path, Array(policy.utf8))
      } else {
        try SecretFile.create(path, Array(policy.utf8))
      }
    } catch {
      let advice = error == .exists ? "; `--force` replaces it" : ""
      Console.reportError("\(path) cannot be written: \(error.withAdvice)\(advice)")
      throw .systemFailure
    }
    Console.inform("\(path) is a first policy that observes; next: proofgate check \(path)")
  }
}
