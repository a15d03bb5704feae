import OAuth

extension Rule where Context == ReentryContext {
  /// `I-reentry`: wherever these stand, and however often, they are absent or equal to what went upstream.
  static var reentryUnchanged: Rule {
    Rule(name: "what went upstream comes back as it went") { context in
      for (name, value) in context.sent {
        for found in context.request.all(name) where !found.utf8.elementsEqual(value.utf8) {
          return .refuse(.reentryChanged, .parameter(name))
        }
      }
      // What never goes upstream cannot come back from there.
      for name in context.neverSent.sorted() where context.request.contains(name) {
        return .refuse(.reentryChanged, .parameter(name))
      }
      return .pass
    }
  }
}
