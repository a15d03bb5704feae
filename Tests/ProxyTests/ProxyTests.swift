import Testing

/// Every test has a proxy on a thread of its own and real sockets over loopback. The tests run one after the other,
/// because some count resources of the whole process.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct ProxyTests {}
