#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Functions for system calls and thread-local variables that Swift cannot use, or only with difficulty, through glibc's
// headers: for example, accept4 needs _GNU_SOURCE, struct epoll_event is packed, and struct sockaddr needs casts.
// Unless a comment says otherwise, a negative result is -errno.

/// An IPv4 address (`family` 4, in the first 4 bytes) or an IPv6 address (`family` 6, with its scope id) in network
/// byte order, and a port in host byte order. `family` 1 is a Unix socket, of which no name is stored.
typedef struct {
  uint8_t bytes[16];
  uint32_t scope;
  uint16_t port;
  uint8_t family;
} cl_address;

// epoll. `events` is an array of struct epoll_event. Functions read it, because Swift cannot use this packed struct.
int32_t cl_epoll_create(void);
/// Registers a descriptor for all events, edge-triggered. cl_event_key returns `key` for each of its events.
int32_t cl_epoll_add(int32_t epoll, int32_t fd, uint64_t key);
/// Registers a descriptor for input, level-triggered.
int32_t cl_epoll_add_level(int32_t epoll, int32_t fd, uint64_t key);
/// Registers a listening socket for its connections, edge-triggered. If several epoll instances wait for the same socket,
/// a connection wakes one of them.
int32_t cl_epoll_add_listener(int32_t epoll, int32_t fd, uint64_t key);
/// Removes a descriptor. Closing it removes it only if no other descriptor refers to the same socket.
int32_t cl_epoll_remove(int32_t epoll, int32_t fd);
int32_t cl_epoll_wait(int32_t epoll, void *_Nonnull events, int32_t capacity, int32_t timeout_ms);
uint64_t cl_event_key(const void *_Nonnull events, int32_t index);
/// Returns the conditions of an event as a combination of the bits below.
uint32_t cl_event_bits(const void *_Nonnull events, int32_t index);
/// Returns the size of one event in bytes.
int32_t cl_event_size(void);
/// CL_READ_CLOSED: the peer has ended its sending side. CL_BROKEN: an error, or both sides are closed. CL_URGENT:
/// urgent data has arrived.
enum { CL_READABLE = 1, CL_WRITABLE = 2, CL_READ_CLOSED = 4, CL_BROKEN = 8, CL_URGENT = 16 };

// An event counter that wakes a loop or a thread from another thread.
int32_t cl_eventfd(void);
void cl_eventfd_signal(int32_t fd);
/// Resets the counter to zero without blocking.
void cl_eventfd_clear(int32_t fd);
/// Blocks the calling thread until the counter is above zero, and resets it to zero.
void cl_eventfd_wait(int32_t fd);
/// Blocks until the counter is above zero or the time has passed, and resets the counter to zero. A signal handler may end
/// the wait early. Returns true if the counter was above zero.
bool cl_eventfd_pause(int32_t fd, int32_t milliseconds);

// A thread-local variable: the event loop of the calling thread, or NULL.
void *_Nullable cl_current_loop(void);
void cl_set_current_loop(void *_Nullable loop);

// The request on which a thread works, for the report of a crash.
/// The source of the ids of requests: a secret key, and the number of the worker.
typedef struct {
  uint64_t first_key;
  uint64_t second_key;
  uint64_t space;
} cl_request_ids;
/// Returns 64 bits of a keyed hash of the request's number and an index.
uint64_t cl_request_word(const cl_request_ids *_Nonnull ids, uint64_t number, uint64_t index);
/// The bytes of an id that the gateway makes, and the largest number of bytes of an id that a proxy chose.
enum { CL_REQUEST_ID_LENGTH = 22, CL_REQUEST_NAME_CAPACITY = 128 };
/// Writes the id of a request: 127 bits in base64url, from the words with the indices 0 and 1. The first character is a
/// letter.
void cl_request_id(const cl_request_ids *_Nonnull ids, uint64_t number, char *_Nonnull text);
/// The requests of a thread. Made by cl_requests_create only, because more follows in memory.
typedef struct {
  /// The number of the request on which the thread works; 0 if there is none. With CL_REQUEST_IS_NAMED if a proxy has
  /// chosen its id.
  uint64_t current;
  cl_request_ids ids;
  /// False if no `ids` are known.
  bool has_ids;
} cl_requests;
#define CL_REQUEST_IS_NAMED ((uint64_t)1 << 63)
cl_requests *_Nullable cl_requests_create(void);
void cl_requests_free(cl_requests *_Nonnull requests);
/// Records the id that a proxy has chosen for the current request.
void cl_requests_name(cl_requests *_Nonnull requests, const uint8_t *_Nullable text, size_t length);
/// Writes the id of the current request, at most CL_REQUEST_NAME_CAPACITY bytes, and returns its length; 0 if there is no
/// request or its id is not known. Safe in a signal handler.
size_t cl_requests_current_id(const cl_requests *_Nonnull requests, char *_Nonnull text);
/// Sets the requests of the calling thread.
void cl_set_current_requests(cl_requests *_Nullable requests);

// TCP sockets. All are non-blocking and closed on exec.
int32_t cl_socket(uint8_t family);
int32_t cl_bind(int32_t fd, const cl_address *_Nonnull address);
int32_t cl_listen(int32_t fd, int32_t backlog);
int32_t cl_accept(int32_t fd, cl_address *_Nonnull peer);
int32_t cl_connect(int32_t fd, const cl_address *_Nonnull address);
/// Returns a descriptor that is connected to the Unix socket at `path`, or -errno: -EAGAIN if the queue of the server is
/// full. `@` at the start means a name in the abstract namespace.
int32_t cl_connect_unix(const char *_Nonnull path);
/// Removes the file of a Unix socket on which no process listens any more. Does nothing if there is no file, and for an
/// abstract name. Returns -EEXIST for a file that is not a socket, and -EADDRINUSE if a process listens on it.
int32_t cl_remove_stale_unix(const char *_Nonnull path);
/// Returns a descriptor that is bound to the Unix socket at `path` and does not listen yet. The file gets this mode and,
/// unless the number is UINT32_MAX, this owner or group. An abstract name has none of these.
int32_t cl_bind_unix(const char *_Nonnull path, uint32_t mode, uint32_t user, uint32_t group);
/// Returns another descriptor of the same open socket.
int32_t cl_duplicate(int32_t fd);
/// True if `path` names the file of a Unix socket.
bool cl_is_unix_file(const char *_Nonnull path);
/// Sets the mode and, unless the number is UINT32_MAX, the owner or group of the file of a Unix socket. Follows no link.
/// Returns -EEXIST for a file that is not a socket, and -EOPNOTSUPP on Linux before 6.6 without /proc.
int32_t cl_set_unix_file(const char *_Nonnull path, uint32_t mode, uint32_t user, uint32_t group);
/// Sends one datagram to the Unix socket at `path`, whose name cl_connect_unix describes. Waits at most so many seconds
/// for room in the receiver's queue.
int32_t cl_send_datagram_unix(
  const char *_Nonnull path, const void *_Nonnull bytes, size_t count, uint32_t seconds);
/// Like cl_send_datagram_unix, with at most 128 descriptors (SCM_RIGHTS, unix(7)). Waits at most a second for room in the
/// receiver's queue.
int32_t cl_send_descriptors_unix(
  const char *_Nonnull path, const void *_Nonnull bytes, size_t count, const int32_t *_Nonnull descriptors,
  int32_t descriptor_count);
/// Prepares a descriptor that this process has inherited: makes it non-blocking and closed on exec. Writes its address,
/// and for a Unix socket its path as cl_connect_unix takes it (at least 110 bytes). Returns -EINVAL if it is not a stream
/// socket that listens, and -ESHUTDOWN if its listening was ended.
int32_t cl_inherit_listener(int32_t fd, cl_address *_Nonnull address, char *_Nonnull path);
/// Ends the listening of a socket for all processes that have it. Its waiting connections are reset.
void cl_end_listening(int32_t fd);
/// Returns a descriptor of a datagram socket that is connected to the Unix socket at `path`. Its sends do not block.
int32_t cl_connect_datagram_unix(const char *_Nonnull path);
int32_t cl_local_address(int32_t fd, cl_address *_Nonnull address);
int32_t cl_peer_address(int32_t fd, cl_address *_Nonnull address);
/// Returns and clears the pending error of the socket: -errno, or 0 without an error.
int32_t cl_socket_error(int32_t fd);
int32_t cl_set_reuse_address(int32_t fd);
int32_t cl_set_reuse_port(int32_t fd);
int32_t cl_set_ipv6_only(int32_t fd);
int32_t cl_set_no_delay(int32_t fd);
/// Sends probes after `seconds` without traffic, three at intervals of `interval` seconds (tcp(7)); 0 seconds for none.
int32_t cl_set_keepalive(int32_t fd, int32_t seconds, int32_t interval);
/// Sets the time in milliseconds for which sent bytes may stay without acknowledgement; 0 for the system's default.
int32_t cl_set_user_timeout(int32_t fd, uint32_t milliseconds);
/// Keeps urgent data in its place in the stream (RFC 6093, section 5).
int32_t cl_set_urgent_inline(int32_t fd);
/// Makes cl_close send a reset, so that the peer does not accept a truncated message as complete.
int32_t cl_set_reset_on_close(int32_t fd);
int64_t cl_receive(int32_t fd, void *_Nonnull bytes, size_t count);
/// Like cl_receive, but leaves the bytes in the receive queue.
int64_t cl_peek(int32_t fd, void *_Nonnull bytes, size_t count);
/// Returns the number of sent bytes that the peer has not acknowledged yet.
int64_t cl_unacknowledged(int32_t fd);
/// Returns true for a Unix-domain socket.
bool cl_is_unix_socket(int32_t fd);
int64_t cl_send(int32_t fd, const void *_Nonnull bytes, size_t count);
/// Like cl_send, for two blocks in one system call.
int64_t cl_send2(
  int32_t fd, const void *_Nonnull first, size_t first_count, const void *_Nonnull second, size_t second_count);
int32_t cl_shutdown_write(int32_t fd);
void cl_close(int32_t fd);

// Names and addresses.
int32_t cl_parse_address(const char *_Nonnull text, cl_address *_Nonnull address);
/// Writes the address without the port into `text`, or an empty text if that fails. `capacity` must be at least 46
/// bytes.
void cl_format_address(const cl_address *_Nonnull address, char *_Nonnull text, int32_t capacity);
/// Resolves a host name. Blocks the calling thread. Writes at most `capacity` addresses and returns their number, or
/// the negative error code of getaddrinfo.
int32_t cl_resolve(const char *_Nonnull host, uint16_t port, cl_address *_Nonnull addresses, int32_t capacity);
/// Returns the text of an error code of cl_resolve.
const char *_Nonnull cl_resolve_error(int32_t code);

/// Returns the nanoseconds since an arbitrary time. Changes of the system clock do not affect it.
uint64_t cl_monotonic(void);
/// Returns the nanoseconds since 1970.
uint64_t cl_realtime(void);

// Threads and the process.
/// Starts a detached thread. Only the first 15 bytes of `name` are used.
int32_t cl_thread_start(void (*_Nonnull body)(void *_Nonnull), void *_Nonnull argument, const char *_Nonnull name);
/// Returns the number of processors on which the calling thread may run.
int32_t cl_affinity_count(void);
/// Raises the soft limit on descriptors to the hard limit, if possible. Returns the new soft limit.
int32_t cl_raise_descriptor_limit(void);
/// Ignores SIGPIPE, and SIGXFSZ, which a write beyond the limit of the size of a file sends: both writes fail with an error.
void cl_ignore_write_signals(void);
/// Makes a fatal signal write one line to standard error, with the place in the program and the request of the thread.
/// Called before the process has other threads.
void cl_report_crashes(void);
/// Gives the calling thread a stack for the handlers of fatal signals, if cl_report_crashes was called; otherwise returns
/// NULL.
void *_Nullable cl_crash_stack_begin(size_t *_Nonnull size);
/// Releases the stack of cl_crash_stack_begin before the thread ends.
void cl_crash_stack_end(void *_Nullable pages, size_t size);
/// Forbids core dumps. Debuggers need CAP_SYS_PTRACE after this call.
void cl_set_undumpable(void);
/// Releases the memory pages of the program's own code. The kernel maps a page again when its code runs again.
void cl_release_code(void);
/// Returns freed heap memory to the system.
void cl_release_memory(void);
/// Makes malloc allocate blocks of 1 MiB or more with mmap, so that freeing such a block returns its memory to the
/// system. By default malloc raises this threshold when such a block is freed; after this call it no longer does.
void cl_map_large_blocks(void);
/// Gives the calling thread the lowest priority (nice 19).
void cl_lower_priority(void);
/// Returns memory of whole pages, filled with zeros; NULL if there is none.
void *_Nullable cl_map_pages(size_t count);
/// Returns the memory of cl_map_pages to the system.
void cl_unmap_pages(void *_Nonnull pages, size_t count);
/// Blocks TERM, INT, HUP and USR1 in the calling thread and in the threads that it starts later.
void cl_signals_block(void);
/// Restores the mask from before cl_signals_block.
void cl_signals_unblock(void);
/// Returns a descriptor from which the signals that cl_signals_block blocks can be read.
int32_t cl_signal_descriptor(void);
/// Returns the number of the next signal, or -EAGAIN.
int32_t cl_signal_next(int32_t fd);

/// The properties of a file that change when it is written or replaced.
typedef struct {
  uint64_t device;
  uint64_t node;
  uint64_t size;
  int64_t seconds;
  int64_t nanoseconds;
  bool is_directory;
} cl_stamp;
/// Opens a descriptor that becomes readable when the entries of watched directories change.
int32_t cl_watch_open(void);
/// Watches a directory. Does nothing if the directory is watched already.
int32_t cl_watch_add(int32_t fd, const char *_Nonnull path);
/// Reads all events. Returns 1 if there were any.
int32_t cl_watch_drain(int32_t fd);
/// Reads the properties of a file. Follows symbolic links.
int32_t cl_file_stamp(const char *_Nonnull path, cl_stamp *_Nonnull stamp);

int32_t cl_process_id(void);
/// Copies the name of this machine, cut to the capacity, with a zero byte at its end.
int32_t cl_host_name(char *_Nonnull name, size_t capacity);
int64_t cl_write_descriptor(int32_t fd, const void *_Nonnull bytes, size_t count);
/// Opens a log file or FIFO for appending, and creates the file with mode 0640 if it does not exist.
int32_t cl_open_log(const char *_Nonnull path);
// The file in which log lines wait, with a lock; -EWOULDBLOCK if another process has it.
int32_t cl_open_spool(const char *_Nonnull path);
int64_t cl_file_size(int32_t fd);
int64_t cl_read_at(int32_t fd, void *_Nonnull bytes, size_t count, int64_t offset);
int64_t cl_write_at(int32_t fd, const void *_Nonnull bytes, size_t count, int64_t offset);
int32_t cl_truncate(int32_t fd, int64_t length);
// True if a write of at most PIPE_BUF bytes does not wait, or fails at once.
bool cl_is_writable(int32_t fd, int32_t milliseconds);
bool cl_is_regular_file(int32_t fd);
/// Blocks until a write of at most PIPE_BUF bytes does not wait, or fails at once: returns true. Returns false if the
/// counter `event` was above zero before, and resets the counter.
bool cl_wait_writable(int32_t fd, int32_t event);
const char *_Nonnull cl_error_text(int32_t code);

// The arguments of the process, which are also available if /proc is not mounted.
int32_t cl_argument_count(void);
const char *_Nullable cl_argument(int32_t index);
/// Returns the version of glibc.
const char *_Nonnull cl_library_version(void);
/// Ends the process immediately, without running exit handlers.
void cl_exit_now(int32_t code) __attribute__((noreturn));
int32_t cl_is_terminal(int32_t fd);
/// Writes a file with secrets, completely or not at all.
///
/// If `replaces` is 0, creates a file with mode 0600, and fails with EEXIST if the file exists. Otherwise replaces the
/// file, and fails with ENOENT if it does not exist. The new file gets the owner and the group of the old one, with the
/// same permissions to read and write. If the process may not set the owner and the group, the mode is 0600.
int32_t cl_write_secret_file(const char *_Nonnull path, const void *_Nonnull bytes, size_t count, int32_t replaces);
