import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
public import Reactor
import Telemetry

/// The ids of requests, in the log, on pages, in responses and in requests to the upstream.
extension Gateway {
  /// The ids of the requests of this thread.
  public var requestIDs: RequestIDs? { ids }

  /// Returns the record for a request.
  func trail(for request: RequestReference) -> AuditTrail { AuditTrail(request, requestID: requestID(request)) }

  /// Returns the record for a request that the gateway answers, with the trace in its header fields.
  func trail(for request: Request) -> AuditTrail {
    let trail = trail(for: request.reference)
    trail.trace = TraceContext(of: request.headers)
    return trail
  }

  /// Returns true if the gateway's response to an intercepted request gets the id. The upstream's response to an
  /// observed request stays unchanged, unless the policy asks for the id in all responses (`I-observe`).
  func marksResponse(_ trail: AuditTrail) -> Bool {
    trail.mode != EnforcementMode.observe.rawValue || trail.decision == .reject || policy.gateway.requestIDs == .all
  }

  /// Sets the fields by which the upstream's log can be compared with that of the gateway: the id of the request, and
  /// its trace. Leaves the fields of an observed request unchanged, unless the policy asks for the id in all requests
  /// (`I-observe`).
  func identify(_ headers: inout Headers, _ trail: AuditTrail) {
    let isObserved = trail.mode == EnforcementMode.observe.rawValue
    guard !isObserved || policy.gateway.requestIDs == .all else { return }
    headers.set(RequestReference.fieldName, trail.requestID)
    guard !isObserved else { return }
    if trail.trace == nil, policy.gateway.traceContext == .start {
      trail.trace = TraceContext(starting: ids.traceBytes(trail.reference.number))
    }
    trail.trace?.set(in: &headers)
  }
}

extension InterceptedRequest {
  /// Sets the id of the request and its trace in the fields of a request to the upstream.
  func identify(_ headers: inout Headers) { gateway.identify(&headers, trail) }
}
