// Random values that follow from the environment variable SEED, so that a failure of a test can be repeated.
//
// Loaded with LD_PRELOAD, it replaces `getrandom`, from which Swift's generators and its hashes take their values, and
// `RAND_bytes` of OpenSSL, from which the gateway takes identifiers and keys. It works in the tests and in the programs of
// this package only; all other programs get random values of the kernel. Each start of a program has values of its own: its
// number is counted in the file that SEED_STARTS names. So has each thread, in the order in which they need random values.
//
// Identifiers are often written in base64url. So that each shape is tried, one value of RAND_bytes in eight begins with `-`
// or with `_`, and one in sixteen has digits only.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_active;
static uint64_t process_seed;
static _Atomic uint64_t threads;
static __thread uint64_t state;
static __thread int has_state;

// SplitMix64.
static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

static uint64_t next(void) {
  if (!has_state) {
    state = mixed(process_seed ^ mixed(atomic_fetch_add(&threads, 1)));
    has_state = 1;
  }
  return mixed(state += 0x9e3779b97f4a7c15);
}

// Returns the number of this start among those that share the file.
static uint64_t number_of_start(const char *file) {
  uint64_t number = 0;
  int fd = file ? open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (fd < 0) return 0;
  flock(fd, LOCK_EX);
  if (pread(fd, &number, sizeof number, 0) != sizeof number) number = 0;
  number += 1;
  if (pwrite(fd, &number, sizeof number, 0) != sizeof number) number = 0;
  close(fd);
  return number;
}

static void begin(void) {
  const char *seed = getenv("SEED"), *name = program_invocation_short_name;
  size_t length = strlen(name);
  int is_test = length > 7 && strcmp(name + length - 7, ".xctest") == 0;
  if (!seed || !*seed || !(is_test || strcmp(name, "proofgate") == 0 || strcmp(name, "StoreLoad") == 0)) return;
  uint64_t hash = strtoull(seed, NULL, 10);
  for (const char *byte = name; *byte; byte++) hash = mixed(hash ^ (uint8_t)*byte);
  process_seed = mixed(hash ^ number_of_start(getenv("SEED_STARTS")));
  is_active = 1;
}

static void fill(uint8_t *bytes, size_t count) {
  for (size_t done = 0; done < count; done += 8) {
    uint64_t word = next();
    memcpy(bytes + done, &word, count - done < 8 ? count - done : 8);
  }
}

// The bytes of three of base64url's digits 0 to 9, which have the values 52 to 61.
static void fill_digits(uint8_t *bytes) {
  uint64_t random = next();
  uint32_t word = 0;
  for (int digit = 0; digit < 4; digit++, random >>= 16) word = word << 6 | (52 + (random & 0xffff) % 10);
  bytes[0] = word >> 16, bytes[1] = word >> 8, bytes[2] = word;
}

static void shape(uint8_t *bytes, size_t count) {
  switch (next() % 16) {
  case 0: bytes[0] = 0xf8 | (bytes[0] & 3); break;
  case 1: bytes[0] = 0xfc | (bytes[0] & 3); break;
  case 2:
    for (size_t done = 0; done + 3 <= count; done += 3) fill_digits(bytes + done);
    break;
  }
}

ssize_t getrandom(void *buffer, size_t count, unsigned flags) {
  pthread_once(&once, begin);
  if (!is_active) return syscall(SYS_getrandom, buffer, count, flags);
  fill(buffer, count);
  return (ssize_t)count;
}

int RAND_bytes(unsigned char *buffer, int count) {
  pthread_once(&once, begin);
  if (count < 0) return 0;
  if (!is_active) {
    for (size_t done = 0; done < (size_t)count;) {
      long got = syscall(SYS_getrandom, buffer + done, (size_t)count - done, 0);
      if (got < 0 && errno != EINTR) return 0;
      if (got > 0) done += (size_t)got;
    }
    return 1;
  }
  fill(buffer, (size_t)count);
  // Short values may have to be different from each other by their first byte. Long ones are divided by their users.
  for (int done = 0; done + 8 <= count; done += 16) shape(buffer + done, count - done < 16 ? count - done : 16);
  return 1;
}
