/* Contestants take turns in one process: functions of one argument. */
#include <time.h>

typedef long long (*Call)(const void*);

/* Of the wall: the time of the thread, which the kernel corrects for what a virtual machine lost, can be too short. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Seconds, a row for each round after a first that is not timed; another contestant begins each round. Returns k + 1 if
   contestant k returns anything but 0. */
int take_turns(int count, const Call* calls, const void* const* arguments, int rounds, double* seconds) {
  for (int round = -1; round < rounds; ++round)
    for (int i = 0; i < count; ++i) {
      const int k = (i + round + 1) % count;
      const double start = now();
      if (calls[k](arguments[k])) return k + 1;
      if (round >= 0) seconds[round * count + k] = now() - start;
    }
  return 0;
}
