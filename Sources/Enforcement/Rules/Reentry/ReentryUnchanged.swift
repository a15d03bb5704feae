internal import Bytes
import OAuth

extension Rule where Context == ReentryContext {
  /// `I-reentry`: each of these parameters is absent, empty (RFC 6749, section 3.1: empty means omitted) or equal to the
  /// value that went upstream, in every place where it occurs.
  static var reentryUnchanged: Rule {
    Rule(name: "what went upstream comes back as it went") { context in
      for (parameter, value) in context.sent where context.request.contains(parameter) {
        for found in context.request.all(parameter) where !found.utf8.span.isEqual(to: value.utf8.span) {
          return .refuse(.reentryChanged, .parameter(parameter.text))
        }
      }
      // What never goes upstream cannot come back from there.
      if let surplus = context.neverSent.intersection(context.request.given).sorted.first {
        return .refuse(.reentryChanged, .parameter(surplus.text))
      }
      return .pass
    }
  }
}
