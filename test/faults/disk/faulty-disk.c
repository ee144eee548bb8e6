/*
 * Put before the C library (LD_PRELOAD), it makes a disk slow or read-only for one process.
 * FAULT_SYNC_MS: each fdatasync and fsync takes so much longer.
 * FAULT_FILE: as long as this file exists, writes to a write-ahead log fail with EROFS.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static void wait_as_told(void) {
  const char *ms = getenv("FAULT_SYNC_MS");
  if (ms != NULL) usleep((useconds_t)atoi(ms) * 1000);
}

static int is_refused(int fd) {
  const char *flag = getenv("FAULT_FILE");
  if (flag == NULL || access(flag, F_OK) != 0) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 4) return 0;
  path[length] = 0;
  return strcmp(path + length - 4, "-wal") == 0;
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_as_told();
  return real(fd);
}

int fsync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_as_told();
  return real(fd);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  static ssize_t (*real)(int, const void *, size_t, off64_t);
  if (real == NULL)
    real = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  if (is_refused(fd)) {
    errno = EROFS;
    return -1;
  }
  return real(fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  return pwrite64(fd, bytes, count, offset);
}
