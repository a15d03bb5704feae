#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What glibc's headers do not give to Swift (epoll and accept4 need _GNU_SOURCE, sockaddr is a cast, thread-locals),
// as plain functions over <stdint.h> types. A result below zero is -errno.

/// An IPv4 (family 4, first 4 bytes) or IPv6 (family 6) address and port, in host byte order.
typedef struct {
  uint8_t bytes[16];
  uint32_t scope;
  uint16_t port;
  uint8_t family;
} cl_address;

// The epoll instance. Events are read through accessors because the kernel's struct is packed.
int32_t cl_epoll_create(void);
int32_t cl_epoll_add(int32_t epoll, int32_t fd, uint64_t key);
int32_t cl_epoll_add_level(int32_t epoll, int32_t fd, uint64_t key);
int32_t cl_epoll_wait(int32_t epoll, void *_Nonnull events, int32_t capacity, int32_t timeout_ms);
uint64_t cl_event_key(const void *_Nonnull events, int32_t index);
/// CL_READABLE and so on, combined.
uint32_t cl_event_bits(const void *_Nonnull events, int32_t index);
int32_t cl_event_size(void);
enum { CL_READABLE = 1, CL_WRITABLE = 2, CL_READ_CLOSED = 4, CL_BROKEN = 8, CL_URGENT = 16 };

// Waking a loop from another thread.
int32_t cl_eventfd(void);
void cl_eventfd_signal(int32_t fd);
void cl_eventfd_clear(int32_t fd);
/// Blocks the calling thread until the counter is above zero, and takes it to zero.
void cl_eventfd_wait(int32_t fd);
/// Waits until it is signalled, at most so long, and leaves it signalled.
void cl_eventfd_pause(int32_t fd, int32_t milliseconds);

// The loop that the calling thread runs, or NULL.
void *_Nullable cl_current(void);
void cl_set_current(void *_Nullable loop);

// Sockets: all non-blocking and closed on exec.
int32_t cl_socket(uint8_t family);
int32_t cl_bind(int32_t fd, const cl_address *_Nonnull address);
int32_t cl_listen(int32_t fd, int32_t backlog);
int32_t cl_accept(int32_t fd, cl_address *_Nonnull peer);
int32_t cl_connect(int32_t fd, const cl_address *_Nonnull address);
int32_t cl_local_address(int32_t fd, cl_address *_Nonnull address);
int32_t cl_peer_address(int32_t fd, cl_address *_Nonnull address);
int32_t cl_socket_error(int32_t fd);
int32_t cl_set_reuse_address(int32_t fd);
int32_t cl_set_reuse_port(int32_t fd);
int32_t cl_set_ipv6_only(int32_t fd);
int32_t cl_set_no_delay(int32_t fd);
/// Urgent data stays in its place in the stream (RFC 6093, section 5).
int32_t cl_set_urgent_inline(int32_t fd);
/// The next close sends a reset, so that a peer cannot take a cut-off message for a whole one.
int32_t cl_set_reset_on_close(int32_t fd);
int64_t cl_receive(int32_t fd, void *_Nonnull bytes, size_t count);
/// The same, leaving the bytes where they are.
int64_t cl_peek(int32_t fd, void *_Nonnull bytes, size_t count);
/// Bytes that were sent and that the peer has not acknowledged yet.
int64_t cl_unacknowledged(int32_t fd);
int64_t cl_send(int32_t fd, const void *_Nonnull bytes, size_t count, bool more);
int64_t cl_send2(
  int32_t fd, const void *_Nonnull first, size_t first_count, const void *_Nonnull second, size_t second_count,
  bool more);
int32_t cl_push(int32_t fd);
int32_t cl_shutdown_write(int32_t fd);
void cl_close(int32_t fd);

// Names and addresses.
int32_t cl_parse_address(const char *_Nonnull text, cl_address *_Nonnull address);
/// At least 46 bytes of room.
void cl_format_address(const cl_address *_Nonnull address, char *_Nonnull text, int32_t capacity);
/// Blocks. Fills at most `capacity` addresses and returns how many; below zero: -(EAI code).
int32_t cl_resolve(const char *_Nonnull host, uint16_t port, cl_address *_Nonnull addresses, int32_t capacity);
const char *_Nonnull cl_resolve_error(int32_t code);

// Clocks, in nanoseconds.
uint64_t cl_monotonic(void);
uint64_t cl_realtime(void);

// Threads and the process.
int32_t cl_thread_start(void (*_Nonnull body)(void *_Nonnull), void *_Nonnull argument, const char *_Nonnull name);
int32_t cl_affinity_count(void);
int32_t cl_raise_descriptor_limit(void);
void cl_ignore_sigpipe(void);
void cl_set_undumpable(void);
/// Gives the program's code pages back: the kernel maps those that are still used again from its cache.
void cl_release_code(void);
/// Gives freed memory back.
void cl_release_memory(void);
/// Takes blocks of a megabyte and more from the system, whatever was freed before.
void cl_map_large_blocks(void);
/// The calling thread runs when others leave it time.
void cl_lower_priority(void);
/// Gives the whole pages of an allocation back; what was in them is lost.
void cl_discard(void *_Nonnull block, size_t count);
/// Blocks TERM, INT, HUP and USR1 in this and every later thread and returns a descriptor that reads them.
int32_t cl_signal_descriptor(void);
/// The next signal's number, or -EAGAIN.
int32_t cl_signal_next(int32_t fd);
int32_t cl_process_id(void);
int64_t cl_write_descriptor(int32_t fd, const void *_Nonnull bytes, size_t count);
int32_t cl_open_log(const char *_Nonnull path);
const char *_Nonnull cl_error_text(int32_t code);

// The process's arguments, as the kernel gave them: there without /proc too.
int32_t cl_argument_count(void);
const char *_Nullable cl_argument(int32_t index);
const char *_Nonnull cl_library_version(void);
/// Ends the process at once, without what is registered to run at exit.
void cl_exit_now(int32_t code) __attribute__((noreturn));
int32_t cl_is_terminal(int32_t fd);
/// Writes a file that only its owner may read, whole or not at all. Without `replaces`, fails with EEXIST when there is
/// one; with it, keeps owner and group, and fails with ENOENT when there is none.
int32_t cl_write_secret_file(const char *_Nonnull path, const void *_Nonnull bytes, size_t count, int32_t replaces);
