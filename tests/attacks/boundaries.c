/* Kills this process at the n-th change that it makes below one directory.

   Preloaded into a process, it counts calls of write, sync, rename, unlink, truncate and mkdir on
   files below the directory that `arm` names, those of SQLite included. The n-th call is not made,
   or, if `torn` is set and it writes, half of its bytes are written before the kill. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char directory[PATH_MAX];
static size_t length;
static long counted, last;
static int tear;

void arm(const char *below, long boundary, int torn) {
    strncpy(directory, below, sizeof directory - 1);
    length = strlen(directory);
    counted = 0;
    last = boundary;
    tear = torn;
}

long boundaries(void) { return counted; }

static int below(const char *path) { return length && path && !strncmp(path, directory, length); }

static int is_ours(int file) {
    char link[64], path[PATH_MAX];
    if (!length) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return below(path);
}

static int reached(void) { return ++counted == last; }
static void die(void) { kill(getpid(), SIGKILL); pause(); }

#define NEXT(name) static __typeof__(&name) next; if (!next) next = dlsym(RTLD_NEXT, #name)

#define WRITER(name, parameters, half, call)                                                       \
    ssize_t name parameters {                                                                      \
        NEXT(name);                                                                                \
        if (is_ours(file) && reached()) {                                                          \
            if (tear) (void)!half;                                                                 \
            die();                                                                                 \
        }                                                                                          \
        return call;                                                                               \
    }

WRITER(write, (int file, const void *data, size_t size), next(file, data, size / 2),
       next(file, data, size))
WRITER(pwrite, (int file, const void *data, size_t size, off_t at),
       next(file, data, size / 2, at), next(file, data, size, at))
WRITER(pwrite64, (int file, const void *data, size_t size, off64_t at),
       next(file, data, size / 2, at), next(file, data, size, at))
WRITER(writev, (int file, const struct iovec *data, int count), next(file, data, count / 2),
       next(file, data, count))

#define ON_FILE(name, parameters, call)                                                            \
    int name parameters {                                                                          \
        NEXT(name);                                                                                \
        if (is_ours(file) && reached()) die();                                                     \
        return call;                                                                               \
    }

ON_FILE(fsync, (int file), next(file))
ON_FILE(fdatasync, (int file), next(file))
ON_FILE(ftruncate, (int file, off_t size), next(file, size))
ON_FILE(ftruncate64, (int file, off64_t size), next(file, size))

#define ON_PATH(name, parameters, path, call)                                                      \
    int name parameters {                                                                          \
        NEXT(name);                                                                                \
        if (below(path) && reached()) die();                                                       \
        return call;                                                                               \
    }

ON_PATH(rename, (const char *from, const char *to), to, next(from, to))
ON_PATH(renameat, (int old, const char *from, int new, const char *to), to,
        next(old, from, new, to))
ON_PATH(unlink, (const char *path), path, next(path))
ON_PATH(unlinkat, (int at, const char *path, int flags), path, next(at, path, flags))
ON_PATH(rmdir, (const char *path), path, next(path))
ON_PATH(mkdir, (const char *path, mode_t mode), path, next(path, mode))
