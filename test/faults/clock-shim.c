/*
 * Moves the time of day of one program, for tests of what a jumping clock does to locks:
 *
 *   cc -shared -fPIC -O1 -o clock-shim.so clock-shim.c -ldl
 *   LD_PRELOAD=clock-shim.so CLOCK_SHIM_FILE=/path/to/offset program
 *
 * The file holds a number of milliseconds, which is read at every look at the clock. The monotonic clock
 * is left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const long long NS_PER_S = 1000000000LL;
static const long long NS_PER_MS = 1000000LL;

static long long read_offset_ms(void) {
  char text[32] = {0};
  const char *path = getenv("CLOCK_SHIM_FILE");
  int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  return length > 0 ? atoll(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (real == NULL) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, now);
  if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  long long ns = now->tv_sec * NS_PER_S + now->tv_nsec + read_offset_ms() * NS_PER_MS;
  now->tv_sec = ns / NS_PER_S;
  now->tv_nsec = ns % NS_PER_S;
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec precise;
  (void)zone;
  int result = clock_gettime(CLOCK_REALTIME, &precise);
  if (now != NULL) {
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
  }
  return result;
}

time_t time(time_t *now) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now != NULL) *now = precise.tv_sec;
  return precise.tv_sec;
}
