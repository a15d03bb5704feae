/// The messages that carry the id of their request (`gateway.request_ids`).
public enum RequestIDMessages: String, Sendable, CaseIterable {
  /// The requests that the gateway makes, and the responses that it makes or changes.
  case own
  /// All messages, also those that pass and those of observed clients.
  case all
}

/// The treatment of intercepted requests without a trace (`gateway.trace_context`; W3C Trace Context).
public enum TraceContextRule: String, Sendable, CaseIterable {
  /// The gateway starts a trace.
  case start
  /// The request stays without a trace.
  case `continue`
}

/// The form of the messages for the operator on standard error (`gateway.notices`).
public enum NoticeForm: String, Sendable, CaseIterable {
  /// Lines of text.
  case text
  /// JSON objects, one on each line.
  case json
}

/// The treatment of a request whose line has no room in the decision log (`gateway.log_overflow`).
public enum LogOverflow: String, Sendable, CaseIterable {
  /// The request is served, and its line is dropped.
  case drop
  /// The request is refused.
  case refuse
}
