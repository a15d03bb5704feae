import Testing

/// Every test has a proxy on a thread of its own and real sockets over loopback. One after the other, because some count
/// what the whole process holds.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct ProxyTests {}
