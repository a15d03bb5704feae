internal import OAuth
public import Time

extension KeyFile {
  /// The time from which a key can be retired without ending a value that is still in use, or the reason why no time is
  /// known.
  public enum Retirement: Hashable, Sendable {
    /// The file has no key with this id.
    case unknownKey
    /// The key seals new values, so it cannot be retired.
    case sealingKey
    /// The key is retired already.
    case retired
    /// The key has never sealed a value.
    case unused
    /// No value that the key sealed is valid from the time `from` on. `sealedUntil` is that of the key.
    case possible(from: UnixTime, sealedUntil: UnixTime)
    /// The key may have sealed values, but the file does not record until when.
    case unrecorded
  }

  /// The time from which a registration key can be retired, and the ids that end with it.
  public struct RegistrationRetirement: Hashable, Sendable {
    /// As for other keys, with the lifetime 0: an id of the key can be in use for ever.
    public let retirement: Retirement
    /// The number of quarters in which the key may have sealed an id.
    public let quarters: Int
  }

  /// Returns the retirement of a registration key; `nil` if no registration key has the id.
  ///
  /// - Parameter now: the current time.
  public func registrationRetirement(of id: KeyID, now: UnixTime) -> RegistrationRetirement? {
    guard let key = registrationKeys.first(where: { $0.id == id }) else { return nil }
    let retirement = registrationFile.retirement(of: id, lifetime: 0)
    if case .unused = retirement { return RegistrationRetirement(retirement: retirement, quarters: 0) }
    let first = CalendarQuarter(containing: key.created)
    let last = CalendarQuarter(containing: max(key.created, key.sealedUntil ?? now))
    return RegistrationRetirement(retirement: retirement, quarters: last.number - first.number + 1)
  }

  /// Returns the number of quarters whose ids end if the key is retired; 0 for a key that has sealed none, that is
  /// retired already, or that is no registration key.
  public func quartersOfIDs(of id: KeyID, now: UnixTime) -> Int {
    guard let retirement = registrationRetirement(of: id, now: now), retirement.retirement != .retired else { return 0 }
    return retirement.quarters
  }

  /// The time after a rotation within which every replica has to load the file. A replica seals with the old key until
  /// it has loaded the file. The file does not record when each replica loaded it; a day is enough for a restart in a
  /// maintenance window.
  public static let reloadTime: Seconds = 86_400

  /// Returns the time from which the key can be retired.
  ///
  /// - Parameter lifetime: the longest time for which a sealed value is valid after it was sealed.
  public func retirement(of id: KeyID, lifetime: Seconds) -> Retirement {
    guard let index = keys.firstIndex(where: { $0.id == id }) else { return .unknownKey }
    if id == sealingKey?.id { return .sealingKey }
    let key = keys[index]
    if key.state == .retired { return .retired }
    if let sealedUntil = key.sealedUntil {
      return .possible(from: sealedUntil + KeyFile.reloadTime + lifetime, sealedUntil: sealedUntil)
    }
    return index == waitingKeyIndex ? .unused : .unrecorded
  }
}
