#define _GNU_SOURCE
#include "CLinux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int32_t result(int value) { return value < 0 ? -errno : value; }

int32_t cl_epoll_create(void) { return result(epoll_create1(EPOLL_CLOEXEC)); }

static int32_t register_events(int32_t epoll, int32_t fd, uint64_t key, uint32_t events) {
  struct epoll_event event = {.events = events, .data.u64 = key};
  return result(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
}

int32_t cl_epoll_add(int32_t epoll, int32_t fd, uint64_t key) {
  return register_events(epoll, fd, key, EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLRDHUP | EPOLLET);
}

int32_t cl_epoll_add_level(int32_t epoll, int32_t fd, uint64_t key) { return register_events(epoll, fd, key, EPOLLIN); }

int32_t cl_epoll_add_listener(int32_t epoll, int32_t fd, uint64_t key) {
  int32_t added = register_events(epoll, fd, key, EPOLLIN | EPOLLET | EPOLLEXCLUSIVE);
  // EINVAL: a system that does not know EPOLLEXCLUSIVE.
  return added == -EINVAL ? register_events(epoll, fd, key, EPOLLIN | EPOLLET) : added;
}

int32_t cl_epoll_remove(int32_t epoll, int32_t fd) { return result(epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL)); }

int32_t cl_epoll_wait(int32_t epoll, void *events, int32_t capacity, int32_t timeout_ms) {
  return result(epoll_wait(epoll, events, capacity, timeout_ms));
}

uint64_t cl_event_key(const void *events, int32_t index) {
  return ((const struct epoll_event *)events)[index].data.u64;
}

uint32_t cl_event_bits(const void *events, int32_t index) {
  uint32_t raw = ((const struct epoll_event *)events)[index].events;
  uint32_t bits = 0;
  if (raw & EPOLLIN) bits |= CL_READABLE;
  if (raw & EPOLLOUT) bits |= CL_WRITABLE;
  if (raw & EPOLLRDHUP) bits |= CL_READ_CLOSED;
  if (raw & (EPOLLHUP | EPOLLERR)) bits |= CL_BROKEN;
  if (raw & EPOLLPRI) bits |= CL_URGENT;
  return bits;
}

int32_t cl_event_size(void) { return (int32_t)sizeof(struct epoll_event); }

int32_t cl_eventfd(void) { return result(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void cl_eventfd_signal(int32_t fd) {
  uint64_t one = 1;
  while (write(fd, &one, sizeof one) < 0 && errno == EINTR) {}
}

void cl_eventfd_clear(int32_t fd) {
  uint64_t value;
  while (read(fd, &value, sizeof value) < 0 && errno == EINTR) {}
}

void cl_eventfd_wait(int32_t fd) {
  uint64_t value;
  for (;;) {
    if (read(fd, &value, sizeof value) >= 0) return;
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    poll(&ready, 1, -1);
  }
}

bool cl_eventfd_pause(int32_t fd, int32_t milliseconds) {
  struct pollfd waiting = {.fd = fd, .events = POLLIN};
  if (poll(&waiting, 1, milliseconds) <= 0) return false;
  cl_eventfd_clear(fd);
  return true;
}

static __thread void *current_loop;
void *cl_current_loop(void) { return current_loop; }
void cl_set_current_loop(void *loop) { current_loop = loop; }

typedef union {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
  struct sockaddr_storage storage;
} system_address;

static socklen_t to_system(const cl_address *address, system_address *out) {
  memset(out, 0, sizeof *out);
  if (address->family == 6) {
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons(address->port);
    out->v6.sin6_scope_id = address->scope;
    memcpy(&out->v6.sin6_addr, address->bytes, 16);
    return sizeof out->v6;
  }
  out->v4.sin_family = AF_INET;
  out->v4.sin_port = htons(address->port);
  memcpy(&out->v4.sin_addr, address->bytes, 4);
  return sizeof out->v4;
}

static void from_system(const system_address *in, cl_address *out) {
  memset(out, 0, sizeof *out);
  if (in->any.sa_family == AF_UNIX) {
    out->family = 1;
    return;
  }
  if (in->any.sa_family == AF_INET6) {
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    out->port = ntohs(in->v6.sin6_port);
    if (memcmp(&in->v6.sin6_addr, mapped, 12) == 0) {
      out->family = 4;
      memcpy(out->bytes, (const uint8_t *)&in->v6.sin6_addr + 12, 4);
      return;
    }
    out->family = 6;
    out->scope = in->v6.sin6_scope_id;
    memcpy(out->bytes, &in->v6.sin6_addr, 16);
    return;
  }
  out->family = 4;
  out->port = ntohs(in->v4.sin_port);
  memcpy(out->bytes, &in->v4.sin_addr, 4);
}

int32_t cl_socket(uint8_t family) {
  return result(socket(family == 6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

int32_t cl_bind(int32_t fd, const cl_address *address) {
  system_address system;
  socklen_t length = to_system(address, &system);
  return result(bind(fd, &system.any, length));
}

int32_t cl_listen(int32_t fd, int32_t backlog) { return result(listen(fd, backlog)); }

int32_t cl_accept(int32_t fd, cl_address *peer) {
  system_address system;
  socklen_t length = sizeof system;
  int accepted = accept4(fd, &system.any, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (accepted < 0) return -errno;
  from_system(&system, peer);
  return accepted;
}

int32_t cl_connect(int32_t fd, const cl_address *address) {
  system_address system;
  socklen_t length = to_system(address, &system);
  return result(connect(fd, &system.any, length));
}

// Returns the size of the address of a Unix socket, or -ENAMETOOLONG.
static int32_t to_unix(const char *path, struct sockaddr_un *address) {
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  size_t length = strlen(path);
  if (length >= sizeof address->sun_path) return -ENAMETOOLONG;
  memcpy(address->sun_path, path, length);
  if (path[0] != '@') return sizeof *address;
  // A name in the abstract namespace begins with a zero byte and has no zero byte at its end.
  address->sun_path[0] = 0;
  return (int32_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

// Returns a non-blocking socket of this type that is connected to `path`.
static int32_t connect_unix(const char *path, int type) {
  struct sockaddr_un address;
  int32_t size = to_unix(path, &address);
  if (size < 0) return size;
  int fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  // The connect of a Unix socket succeeds or fails immediately.
  if (connect(fd, (struct sockaddr *)&address, (socklen_t)size) < 0) {
    int error = errno;
    close(fd);
    return -error;
  }
  return fd;
}

int32_t cl_connect_unix(const char *path) { return connect_unix(path, SOCK_STREAM); }

int32_t cl_remove_stale_unix(const char *path) {
  struct stat status;
  if (path[0] == '@') return 0;
  if (lstat(path, &status) < 0) return errno == ENOENT ? 0 : -errno;
  if (!S_ISSOCK(status.st_mode)) return -EEXIST;
  int32_t connected = cl_connect_unix(path);
  if (connected >= 0) close(connected);
  // EAGAIN: the queue of the server that listens there is full.
  if (connected >= 0 || connected == -EAGAIN) return -EADDRINUSE;
  if (connected != -ECONNREFUSED) return connected;
  return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

bool cl_is_unix_file(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

// Sets the mode of a file that is open with O_PATH.
static int32_t set_mode(int fd, uint32_t mode) {
  // fchmodat2(2), since Linux 6.6. The C library does not declare it yet.
  const long fchmodat2 = 452;
  if (syscall(fchmodat2, fd, "", mode, AT_EMPTY_PATH) == 0) return 0;
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (chmod(path, mode) == 0) return 0;
  // The file is open, so its link is missing only if /proc is not mounted.
  return errno == ENOENT ? -EOPNOTSUPP : -errno;
}

int32_t cl_set_unix_file(const char *path, uint32_t mode, uint32_t user, uint32_t group) {
  // The owner of the directory may replace the file at any time, for example with a link to a file of another user. So
  // the file is opened once, without following links, and only changed if it is a socket.
  int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -errno;
  struct stat status;
  int32_t error = fstat(fd, &status) < 0 ? -errno : S_ISSOCK(status.st_mode) ? 0 : -EEXIST;
  bool keeps_owner = user == UINT32_MAX && group == UINT32_MAX;
  if (error == 0 && !keeps_owner && fchownat(fd, "", user, group, AT_EMPTY_PATH) < 0) error = -errno;
  if (error == 0) error = set_mode(fd, mode);
  close(fd);
  return error;
}

int32_t cl_bind_unix(const char *path, uint32_t mode, uint32_t user, uint32_t group) {
  struct sockaddr_un address;
  int32_t size = to_unix(path, &address);
  if (size < 0) return size;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  bool is_file = path[0] != '@';
  // The kernel refuses connections until cl_listen, so no program can connect before the file has its owner and mode.
  bool is_bound = bind(fd, (struct sockaddr *)&address, (socklen_t)size) == 0;
  int error = is_bound ? 0 : errno;
  if (is_bound && is_file) error = -cl_set_unix_file(path, mode, user, group);
  if (error == 0) return fd;
  if (is_bound && is_file) unlink(path);
  close(fd);
  return -error;
}

int32_t cl_duplicate(int32_t fd) { return result(fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

// Returns a datagram socket whose sends wait at most this long for room in the receiver's queue.
static int datagram_socket(uint32_t seconds) {
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | (seconds == 0 ? SOCK_NONBLOCK : 0), 0);
  struct timeval limit = {.tv_sec = seconds};
  if (fd >= 0 && seconds > 0) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  return fd;
}

int32_t cl_send_datagram_unix(const char *path, const void *bytes, size_t count, uint32_t seconds) {
  struct sockaddr_un address;
  int32_t size = to_unix(path, &address);
  if (size < 0) return size;
  int fd = datagram_socket(seconds);
  if (fd < 0) return -errno;
  ssize_t sent;
  do sent = sendto(fd, bytes, count, MSG_NOSIGNAL, (struct sockaddr *)&address, (socklen_t)size);
  while (sent < 0 && errno == EINTR);
  int error = sent < 0 ? errno : 0;
  close(fd);
  return -error;
}

int32_t cl_send_descriptors_unix(
  const char *path, const void *bytes, size_t count, const int32_t *descriptors, int32_t descriptor_count) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(128 * sizeof(int32_t))];
  } control = {0};
  struct sockaddr_un address;
  int32_t size = to_unix(path, &address);
  if (size < 0) return size;
  if (descriptor_count < 1 || descriptor_count > 128) return -EINVAL;
  int fd = datagram_socket(1);
  if (fd < 0) return -errno;
  size_t length = (size_t)descriptor_count * sizeof(int32_t);
  control.header = (struct cmsghdr){
    .cmsg_len = CMSG_LEN(length), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(&control.header), descriptors, length);
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {
    .msg_name = &address, .msg_namelen = (socklen_t)size, .msg_iov = &part, .msg_iovlen = 1,
    .msg_control = control.bytes, .msg_controllen = CMSG_SPACE(length)};
  ssize_t sent;
  do sent = sendmsg(fd, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  int error = sent < 0 ? errno : 0;
  close(fd);
  return -error;
}

int32_t cl_inherit_listener(int32_t fd, cl_address *address, char *path) {
  int type = 0, listens = 0;
  socklen_t length = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0) return errno == ENOTSOCK ? -EINVAL : -errno;
  length = sizeof listens;
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) < 0) return -errno;
  if (type != SOCK_STREAM || !listens) return -EINVAL;
  union {
    system_address system;
    struct sockaddr_un local;
  } name = {0};
  length = sizeof name;
  if (getsockname(fd, &name.system.any, &length) < 0) return -errno;
  sa_family_t family = name.system.any.sa_family;
  if (family != AF_INET && family != AF_INET6 && family != AF_UNIX) return -EINVAL;
  from_system(&name.system, address);
  path[0] = 0;
  if (family == AF_UNIX) {
    size_t start = offsetof(struct sockaddr_un, sun_path);
    size_t count = length > start ? length - start : 0;
    if (count < 2 || count > sizeof name.local.sun_path) return -EINVAL;
    memcpy(path, name.local.sun_path, count);
    path[count] = 0;
    if (path[0] == 0) {
      path[0] = '@';
      // Such a name cannot be written in a policy.
      if (memchr(path, 0, count)) return -EINVAL;
    }
  }
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) return -errno;
  // SO_ACCEPTCONN stays true for a Unix socket that was shut down.
  struct pollfd event = {.fd = fd, .events = POLLRDHUP};
  return poll(&event, 1, 0) > 0 && event.revents & (POLLHUP | POLLRDHUP) ? -ESHUTDOWN : 0;
}

void cl_end_listening(int32_t fd) { shutdown(fd, SHUT_RDWR); }

int32_t cl_local_address(int32_t fd, cl_address *address) {
  system_address system;
  socklen_t length = sizeof system;
  if (getsockname(fd, &system.any, &length) < 0) return -errno;
  from_system(&system, address);
  return 0;
}

int32_t cl_peer_address(int32_t fd, cl_address *address) {
  system_address system;
  socklen_t length = sizeof system;
  if (getpeername(fd, &system.any, &length) < 0) return -errno;
  from_system(&system, address);
  return 0;
}

int32_t cl_socket_error(int32_t fd) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0) return -errno;
  return -error;
}

static int32_t enable(int32_t fd, int level, int option) {
  int one = 1;
  return result(setsockopt(fd, level, option, &one, sizeof one));
}

int32_t cl_set_reuse_address(int32_t fd) { return enable(fd, SOL_SOCKET, SO_REUSEADDR); }
int32_t cl_set_reuse_port(int32_t fd) { return enable(fd, SOL_SOCKET, SO_REUSEPORT); }
int32_t cl_set_ipv6_only(int32_t fd) { return enable(fd, IPPROTO_IPV6, IPV6_V6ONLY); }
int32_t cl_set_urgent_inline(int32_t fd) { return enable(fd, SOL_SOCKET, SO_OOBINLINE); }
int32_t cl_set_no_delay(int32_t fd) { return enable(fd, IPPROTO_TCP, TCP_NODELAY); }

static int32_t set_number(int32_t fd, int level, int option, int value) {
  return result(setsockopt(fd, level, option, &value, sizeof value));
}

int32_t cl_set_keepalive(int32_t fd, int32_t seconds, int32_t interval) {
  if (seconds > 0) {
    int32_t set = set_number(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
    if (set == 0) set = set_number(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval);
    if (set == 0) set = set_number(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
    if (set < 0) return set;
  }
  return set_number(fd, SOL_SOCKET, SO_KEEPALIVE, seconds > 0);
}

int32_t cl_set_user_timeout(int32_t fd, uint32_t milliseconds) {
  return set_number(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)milliseconds);
}

int32_t cl_set_reset_on_close(int32_t fd) {
  struct linger linger = {.l_onoff = 1, .l_linger = 0};
  return result(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
}

// The functions that receive and send make system calls directly. glibc's wrappers are cancellation points, which cost
// time, and no thread of this program is ever cancelled.
int64_t cl_receive(int32_t fd, void *bytes, size_t count) {
  for (;;) {
    ssize_t received = syscall(SYS_recvfrom, fd, bytes, count, 0, NULL, NULL);
    if (received >= 0) return received;
    if (errno != EINTR) return -errno;
  }
}

int64_t cl_peek(int32_t fd, void *bytes, size_t count) {
  for (;;) {
    ssize_t received = syscall(SYS_recvfrom, fd, bytes, count, MSG_PEEK, NULL, NULL);
    if (received >= 0) return received;
    if (errno != EINTR) return -errno;
  }
}

int64_t cl_unacknowledged(int32_t fd) {
  int count = 0;
  return ioctl(fd, SIOCOUTQ, &count) < 0 ? -errno : count;
}

bool cl_is_unix_socket(int32_t fd) {
  int domain = 0;
  socklen_t length = sizeof domain;
  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX;
}

int64_t cl_send(int32_t fd, const void *bytes, size_t count) {
  for (;;) {
    ssize_t sent = syscall(SYS_sendto, fd, bytes, count, MSG_NOSIGNAL, NULL, 0);
    if (sent >= 0) return sent;
    if (errno != EINTR) return -errno;
  }
}

int64_t cl_send2(
  int32_t fd, const void *first, size_t first_count, const void *second, size_t second_count) {
  struct iovec parts[2] = {
    {.iov_base = (void *)first, .iov_len = first_count},
    {.iov_base = (void *)second, .iov_len = second_count},
  };
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  for (;;) {
    ssize_t sent = syscall(SYS_sendmsg, fd, &message, MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    if (errno != EINTR) return -errno;
  }
}

int32_t cl_shutdown_write(int32_t fd) { return result(shutdown(fd, SHUT_WR)); }
void cl_close(int32_t fd) { close(fd); }

int32_t cl_parse_address(const char *text, cl_address *address) {
  memset(address, 0, sizeof *address);
  if (inet_pton(AF_INET, text, address->bytes) == 1) {
    address->family = 4;
    return 0;
  }
  if (inet_pton(AF_INET6, text, address->bytes) == 1) {
    address->family = 6;
    return 0;
  }
  return -EINVAL;
}

void cl_format_address(const cl_address *address, char *text, int32_t capacity) {
  if (inet_ntop(address->family == 6 ? AF_INET6 : AF_INET, address->bytes, text, (socklen_t)capacity) == NULL) {
    text[0] = 0;
  }
}

int32_t cl_resolve(const char *host, uint16_t port, cl_address *addresses, int32_t capacity) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
  struct addrinfo *found = NULL;
  int code = getaddrinfo(host, NULL, &hints, &found);
  if (code != 0) return code < 0 ? code : -code;
  int32_t count = 0;
  for (struct addrinfo *each = found; each != NULL && count < capacity; each = each->ai_next) {
    if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
    system_address system;
    memset(&system, 0, sizeof system);
    memcpy(&system, each->ai_addr, each->ai_addrlen);
    from_system(&system, &addresses[count]);
    addresses[count].port = port;
    count += 1;
  }
  freeaddrinfo(found);
  return count;
}

const char *cl_resolve_error(int32_t code) { return gai_strerror(code); }

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t cl_monotonic(void) { return nanoseconds(CLOCK_MONOTONIC); }
uint64_t cl_realtime(void) { return nanoseconds(CLOCK_REALTIME); }

typedef struct {
  void (*body)(void *);
  void *argument;
  char name[16];
} thread_start;

static void *run_thread(void *raw) {
  thread_start start = *(thread_start *)raw;
  free(raw);
  pthread_setname_np(pthread_self(), start.name);
  size_t size;
  void *crash_stack = cl_crash_stack_begin(&size);
  start.body(start.argument);
  cl_crash_stack_end(crash_stack, size);
  return NULL;
}

int32_t cl_thread_start(void (*body)(void *), void *argument, const char *name) {
  thread_start *start = malloc(sizeof *start);
  if (start == NULL) return -ENOMEM;
  start->body = body;
  start->argument = argument;
  strncpy(start->name, name, sizeof start->name - 1);
  start->name[sizeof start->name - 1] = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  int code = pthread_create(&thread, &attributes, run_thread, start);
  pthread_attr_destroy(&attributes);
  if (code != 0) free(start);
  return -code;
}

int32_t cl_affinity_count(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) < 0) return -errno;
  return CPU_COUNT(&set);
}

int32_t cl_raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -errno;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) < 0) getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur > INT32_MAX ? INT32_MAX : (int32_t)limit.rlim_cur;
}

void cl_ignore_write_signals(void) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}
void cl_set_undumpable(void) { prctl(PR_SET_DUMPABLE, 0); }

static sigset_t handled_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  sigaddset(&set, SIGUSR1);
  return set;
}

static sigset_t initial_mask;

void cl_signals_block(void) {
  sigset_t set = handled_signals();
  pthread_sigmask(SIG_BLOCK, &set, &initial_mask);
}

void cl_signals_unblock(void) { pthread_sigmask(SIG_SETMASK, &initial_mask, NULL); }

int32_t cl_signal_descriptor(void) {
  sigset_t set = handled_signals();
  return result(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int32_t cl_signal_next(int32_t fd) {
  struct signalfd_siginfo info;
  ssize_t count = read(fd, &info, sizeof info);
  if (count < 0) return -errno;
  return (int32_t)info.ssi_signo;
}

int32_t cl_process_id(void) { return getpid(); }

int32_t cl_host_name(char *name, size_t capacity) {
  if (gethostname(name, capacity) < 0) return -errno;
  name[capacity - 1] = 0;
  return 0;
}

int64_t cl_write_descriptor(int32_t fd, const void *bytes, size_t count) {
  for (;;) {
    ssize_t written = write(fd, bytes, count);
    if (written >= 0) return written;
    if (errno != EINTR) return -errno;
  }
}

int32_t cl_open_log(const char *path) {
  const int flags = O_CREAT | O_APPEND | O_CLOEXEC;
  // Without O_NONBLOCK, opening a FIFO waits until it has a reader.
  int fd = open(path, O_WRONLY | O_NONBLOCK | flags, 0640);
  // ENXIO: the file is a FIFO without a reader. If this process opens it for reading too, the open succeeds, and lines
  // wait in the FIFO until another process reads them (fifo(7)).
  if (fd < 0 && errno == ENXIO) fd = open(path, O_RDWR | O_NONBLOCK | flags, 0640);
  if (fd < 0) return -errno;
  // Clear O_NONBLOCK, so that a write to a full FIFO waits for the reader. Only the thread that writes the log waits.
  int current = fcntl(fd, F_GETFL);
  if (current < 0 || fcntl(fd, F_SETFL, current & ~O_NONBLOCK) < 0) {
    int code = errno;
    close(fd);
    return -code;
  }
  return fd;
}

int32_t cl_open_spool(const char *path) {
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -errno;
  // Two processes that used the same file would mix their lines.
  if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
    int code = errno;
    close(fd);
    return -code;
  }
  return fd;
}

int64_t cl_file_size(int32_t fd) {
  struct stat facts;
  return fstat(fd, &facts) < 0 ? -errno : (int64_t)facts.st_size;
}

int64_t cl_read_at(int32_t fd, void *bytes, size_t count, int64_t offset) {
  for (;;) {
    ssize_t taken = pread(fd, bytes, count, offset);
    if (taken >= 0) return taken;
    if (errno != EINTR) return -errno;
  }
}

int64_t cl_write_at(int32_t fd, const void *bytes, size_t count, int64_t offset) {
  for (;;) {
    ssize_t written = pwrite(fd, bytes, count, offset);
    if (written >= 0) return written;
    if (errno != EINTR) return -errno;
  }
}

int32_t cl_truncate(int32_t fd, int64_t length) { return result(ftruncate(fd, length)); }

bool cl_is_writable(int32_t fd, int32_t milliseconds) {
  struct pollfd waiting = {.fd = fd, .events = POLLOUT};
  return poll(&waiting, 1, milliseconds) > 0;
}

bool cl_is_regular_file(int32_t fd) {
  struct stat facts;
  return fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
}

bool cl_wait_writable(int32_t fd, int32_t event) {
  for (;;) {
    struct pollfd waiting[2] = {{.fd = fd, .events = POLLOUT}, {.fd = event, .events = POLLIN}};
    if (poll(waiting, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return true;
    }
    if (waiting[1].revents) {
      cl_eventfd_clear(event);
      return false;
    }
    if (waiting[0].revents) return true;
  }
}

int32_t cl_connect_datagram_unix(const char *path) { return connect_unix(path, SOCK_DGRAM); }

const char *cl_error_text(int32_t code) { return strerror(code); }
