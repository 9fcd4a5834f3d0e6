/*
 * Preloaded into a server, it notes what the server asks of the disk below POWER_LOSS_ROOT: each write, and each sync
 * with its begin and its end. From these notes disk.ts makes a disk that a power cut may leave behind.
 * SIGKILL alone shows no missing fsync, since the page cache survives it.
 *
 * A write is noted after it was made and a sync before it begins, so the notes never promise more than the disk would.
 * What is written by stdio never passes here; a file opened by fopen is therefore read and noted whole when it is synced.
 * No sync reaches the real disk: it takes POWER_LOSS_SYNC_US instead, on every machine the same. While the file POWER_LOSS_FAILING exists, each sync
 * of a file fails with EIO.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum note_type {
  WRITE = 1, TRUNCATE, SYNC_BEGIN, SYNC_END, CREATE, RENAME, UNLINK, MKDIR, MAPPED, CONTENT, UNSUPPORTED, SYNC_FAILED
};

struct note {
  uint32_t magic;
  uint32_t type;
  uint32_t path_bytes;
  uint32_t other_bytes;
  /* An offset, a length, or which sync it is. */
  uint64_t number;
  uint64_t data_bytes;
};

#define MAGIC 0x31534f4eu
#define FDS_MAX 4096
#define REAL(name) ((__typeof__(&name))real(#name))

static char root[PATH_MAX];
static size_t root_bytes;
static int journal = -1;
static long sync_us;
static const char *failing;
static _Atomic uint32_t syncs;
static _Atomic char is_stream[FDS_MAX];

static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("POWER_LOSS_JOURNAL");
  const char *below = getenv("POWER_LOSS_ROOT");
  const char *us = getenv("POWER_LOSS_SYNC_US");
  if (path == NULL || below == NULL || realpath(below, root) == NULL) return;
  root_bytes = strlen(root);
  sync_us = us == NULL ? 0 : atol(us);
  failing = getenv("POWER_LOSS_FAILING");
  journal = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_below(const char *path) {
  return journal >= 0 && strncmp(path, root, root_bytes) == 0 && (path[root_bytes] == '/' || path[root_bytes] == 0);
}

/* The name by which an open file goes now; 0 when it is none of ours, or has none any more. */
static int path_of_fd(int fd, char *path) {
  if (journal < 0) return 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t bytes = readlink(link, path, PATH_MAX - 1);
  if (bytes <= 0) return 0;
  path[bytes] = 0;
  const char *deleted = " (deleted)";
  size_t tail = strlen(deleted);
  if ((size_t)bytes > tail && strcmp(path + bytes - tail, deleted) == 0) return 0;
  return is_below(path);
}

static int path_at(int dirfd, const char *name, char *path) {
  if (journal < 0 || name == NULL) return 0;
  if (name[0] == '/') {
    snprintf(path, PATH_MAX, "%s", name);
    return is_below(path);
  }
  char folder[PATH_MAX];
  if (dirfd == AT_FDCWD) {
    if (getcwd(folder, sizeof folder) == NULL) return 0;
  } else if (!path_of_fd(dirfd, folder)) {
    return 0;
  }
  int bytes = snprintf(path, PATH_MAX, "%s/%s", folder, name);
  return bytes > 0 && bytes < PATH_MAX && is_below(path);
}

/* One appending call, so that notes of threads and children never mix, and only the last can be cut short. */
static void note(enum note_type type, const char *path, const char *other, uint64_t number, const struct iovec *data, int parts) {
  int before = errno;
  struct note head = { MAGIC, type, (uint32_t)strlen(path), other == NULL ? 0 : (uint32_t)strlen(other), number, 0 };
  struct iovec all[3 + IOV_MAX / 2];
  if (parts > IOV_MAX / 2) abort();
  uint64_t sum = 0;
  for (int part = 0; part < parts; part++) sum += data[part].iov_len;
  head.data_bytes = sum;
  all[0] = (struct iovec){ &head, sizeof head };
  all[1] = (struct iovec){ (void *)path, head.path_bytes };
  all[2] = (struct iovec){ (void *)other, head.other_bytes };
  if (parts > 0) memcpy(all + 3, data, (size_t)parts * sizeof *data);
  ssize_t written = syscall(SYS_writev, journal, all, 3 + parts);
  /* Without its notes the run proves nothing. */
  if (written != (ssize_t)(sizeof head + head.path_bytes + head.other_bytes + sum)) abort();
  errno = before;
}

static void note_path(enum note_type type, const char *path, uint64_t number) {
  note(type, path, NULL, number, NULL, 0);
}

/* What was written of these parts, from `offset` or, if that is negative, up to where the file now stands. */
static void note_written(int fd, const struct iovec *data, int parts, ssize_t written, off_t offset) {
  char path[PATH_MAX];
  if (written <= 0 || !path_of_fd(fd, path)) return;
  struct iovec kept[IOV_MAX / 2];
  if (parts > IOV_MAX / 2) abort();
  size_t left = (size_t)written;
  int count = 0;
  for (; count < parts && left > 0; count++) {
    kept[count] = data[count];
    if (kept[count].iov_len > left) kept[count].iov_len = left;
    left -= kept[count].iov_len;
  }
  off_t from = offset >= 0 ? offset : lseek(fd, 0, SEEK_CUR) - written;
  note(WRITE, path, NULL, (uint64_t)from, kept, count);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  ssize_t written = REAL(write)(fd, bytes, count);
  note_written(fd, &(struct iovec){ (void *)bytes, count }, 1, written, -1);
  return written;
}

ssize_t writev(int fd, const struct iovec *data, int parts) {
  ssize_t written = REAL(writev)(fd, data, parts);
  note_written(fd, data, parts, written, -1);
  return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  ssize_t written = REAL(pwrite)(fd, bytes, count, offset);
  note_written(fd, &(struct iovec){ (void *)bytes, count }, 1, written, offset);
  return written;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  ssize_t written = REAL(pwrite64)(fd, bytes, count, offset);
  note_written(fd, &(struct iovec){ (void *)bytes, count }, 1, written, offset);
  return written;
}

ssize_t pwritev(int fd, const struct iovec *data, int parts, off_t offset) {
  ssize_t written = REAL(pwritev)(fd, data, parts, offset);
  note_written(fd, data, parts, written, offset);
  return written;
}

ssize_t pwritev64(int fd, const struct iovec *data, int parts, off64_t offset) {
  ssize_t written = REAL(pwritev64)(fd, data, parts, offset);
  note_written(fd, data, parts, written, offset);
  return written;
}

static int note_length(int fd, off_t length, int result) {
  char path[PATH_MAX];
  if (result == 0 && path_of_fd(fd, path)) note_path(TRUNCATE, path, (uint64_t)length);
  return result;
}

int ftruncate(int fd, off_t length) { return note_length(fd, length, REAL(ftruncate)(fd, length)); }
int ftruncate64(int fd, off64_t length) { return note_length(fd, length, REAL(ftruncate64)(fd, length)); }

static int note_truncate(const char *name, off_t length, int result) {
  char path[PATH_MAX];
  if (result == 0 && path_at(AT_FDCWD, name, path)) note_path(TRUNCATE, path, (uint64_t)length);
  return result;
}

int truncate(const char *name, off_t length) { return note_truncate(name, length, REAL(truncate)(name, length)); }
int truncate64(const char *name, off64_t length) { return note_truncate(name, length, REAL(truncate64)(name, length)); }

/* stdio has written past us, so the file itself tells what there is to sync. */
static void note_content(int fd, const char *path) {
  struct stat facts;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int again = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC);
  if (again < 0 || fstat(again, &facts) != 0) abort();
  char *bytes = malloc((size_t)facts.st_size + 1);
  if (bytes == NULL || pread(again, bytes, (size_t)facts.st_size, 0) != facts.st_size) abort();
  syscall(SYS_close, again);
  note(CONTENT, path, NULL, 0, &(struct iovec){ bytes, (size_t)facts.st_size }, 1);
  free(bytes);
}

static int is_failing(int fd) {
  struct stat facts;
  if (failing == NULL || syscall(SYS_faccessat, AT_FDCWD, failing, F_OK) != 0) return 0;
  return fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
}

/* Returns -1 if the file is none of ours. Otherwise `result` is what the caller is told. */
static int sync_instead(int fd, int *result) {
  char path[PATH_MAX];
  int before = errno;
  *result = 0;
  if (!path_of_fd(fd, path)) return -1;
  if (fd < FDS_MAX && is_stream[fd]) note_content(fd, path);
  if (is_failing(fd)) {
    note_path(SYNC_FAILED, path, 0);
    *result = -1;
    errno = EIO;
    return 0;
  }
  errno = before;
  uint64_t which = ((uint64_t)getpid() << 32) | atomic_fetch_add(&syncs, 1);
  note_path(SYNC_BEGIN, path, which);
  if (sync_us > 0) usleep((useconds_t)sync_us);
  note_path(SYNC_END, path, which);
  return 0;
}

int fsync(int fd) {
  int result;
  return sync_instead(fd, &result) == 0 ? result : REAL(fsync)(fd);
}

int fdatasync(int fd) {
  int result;
  return sync_instead(fd, &result) == 0 ? result : REAL(fdatasync)(fd);
}

static void note_opened(int fd, int flags, int was_there) {
  char path[PATH_MAX];
  if (fd < 0) return;
  if (fd < FDS_MAX) is_stream[fd] = 0;
  if ((flags & O_ACCMODE) == O_RDONLY || !path_of_fd(fd, path)) return;
  if (!was_there) note_path(CREATE, path, 0);
  else if (flags & O_TRUNC) note_path(TRUNCATE, path, 0);
}

static int is_there(int dirfd, const char *name, int flags) {
  if (!(flags & O_CREAT)) return 1;
  int before = errno;
  int there = faccessat(dirfd, name, F_OK, 0) == 0;
  errno = before;
  return there;
}

#define MODE_OF(flags, mode) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | __O_TMPFILE)) { \
    va_list more; \
    va_start(more, flags); \
    mode = va_arg(more, mode_t); \
    va_end(more); \
  }

int open(const char *name, int flags, ...) {
  MODE_OF(flags, mode)
  int was_there = is_there(AT_FDCWD, name, flags);
  int fd = REAL(open)(name, flags, mode);
  note_opened(fd, flags, was_there);
  return fd;
}

int open64(const char *name, int flags, ...) {
  MODE_OF(flags, mode)
  int was_there = is_there(AT_FDCWD, name, flags);
  int fd = REAL(open64)(name, flags, mode);
  note_opened(fd, flags, was_there);
  return fd;
}

int openat(int dirfd, const char *name, int flags, ...) {
  MODE_OF(flags, mode)
  int was_there = is_there(dirfd, name, flags);
  int fd = REAL(openat)(dirfd, name, flags, mode);
  note_opened(fd, flags, was_there);
  return fd;
}

int openat64(int dirfd, const char *name, int flags, ...) {
  MODE_OF(flags, mode)
  int was_there = is_there(dirfd, name, flags);
  int fd = REAL(openat64)(dirfd, name, flags, mode);
  note_opened(fd, flags, was_there);
  return fd;
}

static FILE *note_stream(FILE *stream, const char *how, int was_there) {
  if (stream == NULL || how[0] == 'r') return stream;
  int fd = fileno(stream);
  note_opened(fd, O_WRONLY | (how[0] == 'w' ? O_TRUNC : 0), was_there);
  if (fd < FDS_MAX) is_stream[fd] = 1;
  return stream;
}

FILE *fopen(const char *name, const char *how) {
  int was_there = is_there(AT_FDCWD, name, O_CREAT);
  return note_stream(REAL(fopen)(name, how), how, was_there);
}

FILE *fopen64(const char *name, const char *how) {
  int was_there = is_there(AT_FDCWD, name, O_CREAT);
  return note_stream(REAL(fopen64)(name, how), how, was_there);
}

static int note_renamed(int from_dir, const char *from, int to_dir, const char *to, int result) {
  char old_path[PATH_MAX], new_path[PATH_MAX];
  int is_ours = path_at(from_dir, from, old_path);
  if (result == 0 && is_ours != path_at(to_dir, to, new_path)) note_path(UNSUPPORTED, is_ours ? old_path : new_path, 0);
  else if (result == 0 && is_ours) note(RENAME, old_path, new_path, 0, NULL, 0);
  return result;
}

int rename(const char *from, const char *to) {
  return note_renamed(AT_FDCWD, from, AT_FDCWD, to, REAL(rename)(from, to));
}

int renameat(int from_dir, const char *from, int to_dir, const char *to) {
  return note_renamed(from_dir, from, to_dir, to, REAL(renameat)(from_dir, from, to_dir, to));
}

static int note_at(enum note_type type, int dirfd, const char *name, int result) {
  char path[PATH_MAX];
  if (result == 0 && path_at(dirfd, name, path)) note_path(type, path, 0);
  return result;
}

int unlink(const char *name) { return note_at(UNLINK, AT_FDCWD, name, REAL(unlink)(name)); }
int unlinkat(int dirfd, const char *name, int flags) { return note_at(UNLINK, dirfd, name, REAL(unlinkat)(dirfd, name, flags)); }
int remove(const char *name) { return note_at(UNLINK, AT_FDCWD, name, REAL(remove)(name)); }
int rmdir(const char *name) { return note_at(UNLINK, AT_FDCWD, name, REAL(rmdir)(name)); }
int mkdir(const char *name, mode_t mode) { return note_at(MKDIR, AT_FDCWD, name, REAL(mkdir)(name, mode)); }
int mkdirat(int dirfd, const char *name, mode_t mode) { return note_at(MKDIR, dirfd, name, REAL(mkdirat)(dirfd, name, mode)); }
int link(const char *from, const char *to) { return note_at(UNSUPPORTED, AT_FDCWD, to, REAL(link)(from, to)); }

static void note_mapped(void *at, int protection, int flags, int fd) {
  char path[PATH_MAX];
  if (at == MAP_FAILED || fd < 0 || !(flags & MAP_SHARED) || !(protection & PROT_WRITE)) return;
  if (path_of_fd(fd, path)) note_path(MAPPED, path, 0);
}

void *mmap(void *where, size_t length, int protection, int flags, int fd, off_t offset) {
  void *at = (void *)syscall(SYS_mmap, where, length, protection, flags, fd, offset);
  note_mapped(at, protection, flags, fd);
  return at;
}

void *mmap64(void *where, size_t length, int protection, int flags, int fd, off64_t offset) {
  return mmap(where, length, protection, flags, fd, offset);
}

static int note_unsupported(int fd, int result) {
  char path[PATH_MAX];
  if (result >= 0 && path_of_fd(fd, path)) note_path(UNSUPPORTED, path, 0);
  return result;
}

int fallocate(int fd, int mode, off_t offset, off_t length) { return note_unsupported(fd, REAL(fallocate)(fd, mode, offset, length)); }
int posix_fallocate(int fd, off_t offset, off_t length) { return note_unsupported(fd, REAL(posix_fallocate)(fd, offset, length)); }
