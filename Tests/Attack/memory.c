// Counts the memory that a program holds, for `cost` and `complexity`.
//
// Loaded with LD_PRELOAD, it replaces the functions of malloc by those of glibc with a count. The file that
// MEMORY_COUNTS names gets two numbers of 64 bits: the bytes that the program holds now, and the most that it has held.
// A reader overwrites the second number to begin again.

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

struct counts {
  _Atomic int64_t held, most;
};

static struct counts before_start;
static _Atomic(struct counts *) counts = &before_start;

__attribute__((constructor)) static void start(void) {
  const char *name = getenv("MEMORY_COUNTS");
  int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  struct counts *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (shared == MAP_FAILED) abort();
  shared->held = before_start.held;
  counts = shared;
}

static void add(int64_t size) {
  struct counts *here = counts;
  int64_t held = atomic_fetch_add(&here->held, size) + size, most = here->most;
  while (held > most && !atomic_compare_exchange_weak(&here->most, &most, held)) {}
}

static void *counted(void *memory) {
  if (memory) add((int64_t)malloc_usable_size(memory));
  return memory;
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }
void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) || alignment & (alignment - 1) || !alignment) return EINVAL;
  void *memory = counted(__libc_memalign(alignment, size));
  if (!memory) return ENOMEM;
  *result = memory;
  return 0;
}

void free(void *memory) {
  if (memory) add(-(int64_t)malloc_usable_size(memory));
  __libc_free(memory);
}

void *realloc(void *memory, size_t size) {
  int64_t before = memory ? (int64_t)malloc_usable_size(memory) : 0;
  void *result = __libc_realloc(memory, size);
  // A failure leaves the old memory; a size of zero frees it.
  if (result || !size) add((result ? (int64_t)malloc_usable_size(result) : 0) - before);
  return result;
}
