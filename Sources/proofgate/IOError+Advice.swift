import Reactor

extension IOError {
  /// The error in words, and what to do if it is known, after the words "cannot be written" or "cannot be created".
  var withAdvice: String {
    switch code {
    case 2: "\(self); create its directory first"
    case 1, 13, 30: "\(self); name a file in a directory that this user may write"
    case 21: "\(self); name a file in it"
    default: "\(self)"
    }
  }
}
