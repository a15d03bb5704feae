#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <stddef.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

int32_t cl_watch_open(void) {
  int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

int32_t cl_watch_add(int32_t fd, const char *path) {
  const uint32_t events = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB |
                          IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
  int number = inotify_add_watch(fd, path, events);
  return number < 0 ? -errno : number;
}

int32_t cl_watch_drain(int32_t fd) {
  char events[4096];
  int32_t found = 0;
  for (;;) {
    ssize_t count = read(fd, events, sizeof events);
    if (count > 0) {
      found = 1;
    } else if (count == 0) {
      return found;
    } else if (errno != EINTR) {
      return errno == EAGAIN ? found : -errno;
    }
  }
}

int32_t cl_file_stamp(const char *path, cl_stamp *stamp) {
  struct stat facts;
  if (stat(path, &facts) != 0) return -errno;
  stamp->device = facts.st_dev;
  stamp->node = facts.st_ino;
  stamp->size = (uint64_t)facts.st_size;
  stamp->seconds = facts.st_mtim.tv_sec;
  stamp->nanoseconds = facts.st_mtim.tv_nsec;
  stamp->is_directory = S_ISDIR(facts.st_mode);
  return 0;
}
