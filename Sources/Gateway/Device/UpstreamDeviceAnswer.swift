internal import ByteText
import JSON
import OAuth
import Policy
import Time

/// The members of a device authorization response of the upstream that go to the device (RFC 8628, section 3.2), read
/// strictly.
struct UpstreamDeviceAnswer {
  /// The longest user code that the gateway accepts, in bytes. A user has to type it.
  static let maximumUserCodeLength = 64
  /// The longest interval between two polls. A device that waited longer would seem to hang.
  static let maximumInterval: Seconds = 60

  /// The device code of the upstream.
  let deviceCode: Secret
  /// The code that the user types: printable ASCII without spaces.
  let userCode: String
  /// The address of the page on which the user types it.
  let page: MetadataURL
  /// The address that contains the code; `nil` if the upstream sent none, or none that is a URL.
  let completePage: MetadataURL?
  /// The lifetime of the codes; `nil` if the upstream sent none.
  let lifetime: Seconds?
  /// The time between two polls.
  let interval: Seconds

  /// Reads the members; `nil` if a required one is missing or not usable.
  init?(_ members: [String: JSONValue]) {
    guard let deviceCode = members["device_code"]?.text, let userCode = members["user_code"]?.text,
      (1...UpstreamDeviceAnswer.maximumUserCodeLength).contains(userCode.utf8.count),
      userCode.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
      // Some servers have the name of an early draft.
      let page = UpstreamDeviceAnswer.page(in: members["verification_uri"] ?? members["verification_url"])
    else { return nil }
    self.deviceCode = Secret(deviceCode)
    self.userCode = userCode
    self.page = page
    completePage = UpstreamDeviceAnswer.page(in: members["verification_uri_complete"])
    lifetime = UpstreamDeviceAnswer.seconds(members["expires_in"])
    let interval = UpstreamDeviceAnswer.seconds(members["interval"]) ?? DeviceFlow.initialInterval
    self.interval = min(interval, UpstreamDeviceAnswer.maximumInterval)
  }

  /// Returns the address of a page of the upstream as browsers reach it: the upstream's own address, which may be
  /// hidden, and the gateway's with http become that of the gateway. Returns `nil` for a page of another host, to which an upstream that is
  /// compromised or misled by a `Host` field could send users.
  static func address(of url: MetadataURL, gateway: Origin, upstream: UpstreamSettings) -> String? {
    let isHost = url.origin.host == upstream.origin.host && url.origin.host != gateway.host
    let origins = ServerOrigins(upstream, gateway: gateway)
    let isOwn = (origins.hidden + origins.insecure).contains(url.origin.description)
    return isHost || isOwn || url.origin == gateway ? gateway.description + url.target : nil
  }

  /// Returns the address of a page in the upstream's response; `nil` if the value is not an http or https URL.
  private static func page(in value: JSONValue?) -> MetadataURL? {
    value?.text.flatMap(MetadataURL.init(parsing:))
  }

  /// Returns a positive number of seconds, which may be a text.
  private static func seconds(_ value: JSONValue?) -> Seconds? {
    let number: Int64? =
      switch value {
      case .integer(let number): number
      case .string(let text): Int64(text)
      default: nil
      }
    return number.flatMap { (1...1_000_000).contains($0) ? Seconds(Int($0)) : nil }
  }
}
