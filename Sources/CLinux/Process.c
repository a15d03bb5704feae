#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static int32_t argument_count;
static char **arguments;

// Runs before any Swift code, for a process without a mounted /proc. Swift's runtime reads the arguments from
// /proc/self/cmdline, so this function saves them. The runtime also reads the path of the program from /proc/self/exe,
// and ends the process if that fails. It does not read the path if SWIFT_ROOT is set, so this function sets SWIFT_ROOT
// if the path cannot be read. A static program never needs the path, so SWIFT_ROOT is always set for it (AT_BASE is 0,
// because a static program has no interpreter).
__attribute__((constructor(101))) static void prepare_runtime(int argc, char **argv, char **envp) {
  (void)envp;
  argument_count = argc;
  arguments = argv;
  char path[2];
  if (getauxval(AT_BASE) == 0 || readlink("/proc/self/exe", path, sizeof path) < 0) setenv("SWIFT_ROOT", "/", 0);
}

int32_t cl_argument_count(void) { return argument_count; }
const char *cl_argument(int32_t index) { return index < argument_count ? arguments[index] : NULL; }

const char *cl_library_version(void) { return gnu_get_libc_version(); }
void cl_exit_now(int32_t code) { _exit(code); }
int32_t cl_is_terminal(int32_t fd) { return isatty(fd); }

static int release_code(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  (void)data;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (size_t index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
    // Skip writable segments, because their pages may differ from the file and would lose their content.
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) || !(segment->p_flags & PF_X)) continue;
    const uintptr_t start = (object->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
    const uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_memsz) & ~(page - 1);
    if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
  }
  // Stop after the first object, which is the program itself. Other processes use the pages of the libraries.
  return 1;
}

void cl_release_code(void) { dl_iterate_phdr(release_code, NULL); }
void cl_release_memory(void) { malloc_trim(0); }

void cl_map_large_blocks(void) {
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 2 << 20);
}

// On Linux, contrary to POSIX, each thread has its own nice value, so this changes only the calling thread.
void cl_lower_priority(void) { setpriority(PRIO_PROCESS, (id_t)gettid(), 19); }

void *cl_map_pages(size_t count) {
  void *pages = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? NULL : pages;
}

void cl_unmap_pages(void *pages, size_t count) { munmap(pages, count); }

static int32_t write_all(int32_t fd, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(fd, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return -errno;
    bytes += written;
    count -= (size_t)written;
  }
  return fsync(fd) < 0 ? -errno : 0;
}

// Writes the directory entry of a file to the disk. Errors are ignored, because the file itself is already complete.
static void sync_directory_of(const char *path) {
  char *copy = strdup(path);
  if (copy == NULL) return;
  char *slash = strrchr(copy, '/');
  if (slash != NULL) slash[1] = 0;
  int fd = open(slash == NULL ? "." : copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
  free(copy);
}

static int32_t write_and_move(const char *path, const struct stat *old, const void *bytes, size_t count) {
  char temporary[4096];
  int length = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
  if (length < 0 || (size_t)length >= sizeof temporary) return -ENAMETOOLONG;
  int fd = mkostemp(temporary, O_CLOEXEC);
  if (fd < 0) return -errno;
  int32_t code = 0;
  if (old != NULL) {
    // The owner and the group keep their access, because a service may read the file. Other users get no access.
    if (fchown(fd, old->st_uid, old->st_gid) == 0) {
      if (fchmod(fd, (old->st_mode & 0660) | 0600) < 0) code = -errno;
    }
  } else if (fchmod(fd, 0600) < 0) {
    code = -errno;
  }
  if (code == 0) code = write_all(fd, bytes, count);
  close(fd);
  if (code == 0) {
    // Unlike rename, link fails if the name exists.
    int moved = old != NULL ? rename(temporary, path) : link(temporary, path);
    if (moved < 0) code = -errno;
  }
  if (code != 0 || old == NULL) unlink(temporary);
  if (code == 0) sync_directory_of(path);
  return code;
}

int32_t cl_write_secret_file(const char *path, const void *bytes, size_t count, int32_t replaces) {
  if (!replaces) return write_and_move(path, NULL, bytes, count);
  // Resolve symbolic links, so that the target file is replaced and the links remain.
  char *real = realpath(path, NULL);
  if (real == NULL) return -errno;
  struct stat old;
  int32_t code = stat(real, &old) < 0 ? -errno : write_and_move(real, &old, bytes, count);
  free(real);
  return code;
}
