internal import Bytes
import OAuth

extension Rule where Context == ReentryContext {
  /// `I-reentry`: wherever these stand, and however often, they are absent or equal to what went upstream.
  static var reentryUnchanged: Rule {
    Rule(name: "what went upstream comes back as it went") { context in
      for (name, value) in context.sent where context.request.contains(name) {
        for found in context.request.all(name) where !found.utf8.span.isEqual(to: value.utf8.span) {
          return .refuse(.reentryChanged, .parameter(name))
        }
      }
      // What never goes upstream cannot come back from there.
      if let name = context.neverSent.lazy.filter(context.request.contains).min() {
        return .refuse(.reentryChanged, .parameter(name))
      }
      return .pass
    }
  }
}
