/* Batches, WIDTH states at a time: entry j of all of them is a vector, x[j] or y[source[j]]: zeros, and what is written
   twice, as the two halves of a symmetric matrix, are there once. */
#include <string.h>

#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (Indices) {__VA_ARGS__})
#endif

/* A square of entries: SIDE rows of SIDE. */
#if WIDTH >= 4
#define SIDE 4
#else
#define SIDE 2
#endif
typedef REAL Row __attribute__((vector_size(BYTES * SIDE), aligned(BYTES), may_alias));
#if BYTES == 8
typedef int64_t Indices __attribute__((vector_size(BYTES * SIDE)));
#else
typedef int32_t Indices __attribute__((vector_size(BYTES * SIDE)));
#endif

static inline __attribute__((always_inline)) void turn(const REAL* const* from, REAL* to, casadi_int next) {
#if SIDE == 4
  const Row a = *(const Row*) from[0], b = *(const Row*) from[1], c = *(const Row*) from[2], d = *(const Row*) from[3];
  const Row ab = SHUFFLE(a, b, 0, 4, 2, 6), ba = SHUFFLE(a, b, 1, 5, 3, 7);
  const Row cd = SHUFFLE(c, d, 0, 4, 2, 6), dc = SHUFFLE(c, d, 1, 5, 3, 7);
  *(Row*) to = SHUFFLE(ab, cd, 0, 1, 4, 5), *(Row*) (to + next) = SHUFFLE(ba, dc, 0, 1, 4, 5);
  *(Row*) (to + 2 * next) = SHUFFLE(ab, cd, 2, 3, 6, 7), *(Row*) (to + 3 * next) = SHUFFLE(ba, dc, 2, 3, 6, 7);
#else
  const Row a = *(const Row*) from[0], b = *(const Row*) from[1];
  *(Row*) to = SHUFFLE(a, b, 0, 2), *(Row*) (to + next) = SHUFFLE(a, b, 1, 3);
#endif
}

/* Entries of WIDTH states, or of as many as are left: `step` from state to state, `next` from entry to entry. */
static inline __attribute__((always_inline)) void to_vectors(const REAL* from, casadi_int step, casadi_int next, casadi_int left, casadi_int n, V* x) {
  casadi_int j, l, i;
  const REAL* rows[SIDE];
  if (left >= WIDTH && next == 1 && n >= SIDE) {
    for (j = 0; j < n; j += SIDE) {
      if (j > n - SIDE) j = n - SIDE;
      for (l = 0; l < WIDTH; l += SIDE) {
        for (i = 0; i < SIDE; ++i) rows[i] = from + (l + i) * step + j;
        turn(rows, (REAL*) (x + j) + l, WIDTH);
      }
    }
  } else { /* the last state stands for those behind it */
    for (l = 0; l < WIDTH; ++l, from += l < left ? step : 0)
      for (j = 0; j < n; ++j) x[j][l] = from[j * next];
  }
}

static inline __attribute__((always_inline)) void from_vectors(const V* y, const int* own, casadi_int step, casadi_int next, casadi_int left, casadi_int n, REAL* to) {
  casadi_int j, l, i;
  const REAL* rows[SIDE];
  if (left >= WIDTH && next == 1 && n >= SIDE) {
    for (j = 0; j < n; j += SIDE) {
      if (j > n - SIDE) j = n - SIDE;
      for (l = 0; l < WIDTH; l += SIDE) {
        for (i = 0; i < SIDE; ++i) rows[i] = (const REAL*) (y + own[j + i]) + l;
        turn(rows, to + l * step + j, step);
      }
    }
  } else {
    for (l = 0; l < WIDTH && l < left; ++l, to += step)
      for (j = 0; j < n; ++j) to[j * next] = y[own[j]][l];
  }
}

/* Where the states lie side by side, some vectors are read and written together, the entries one after the other: each
   is far from the next, and touched once for several lines of memory. TILE vectors fit into a part of the second cache, or
   are one line. */
enum { FIRST_CACHE = 16384, SECOND_CACHE = 65536, LINE = 64 / sizeof(V) };
enum { FITTING = SECOND_CACHE / (sizeof(V) * (X + Y + 1)) };
enum { TILE = FITTING > 16 ? 16 : FITTING > LINE ? FITTING : LINE };

static void to_tile(const REAL* from, casadi_int next, casadi_int n, V* x, casadi_int count) {
  for (casadi_int j = 0; j < n; ++j)
    for (casadi_int t = 0; t < count; ++t) x[t * X + j] = *(const U*) (from + j * next + t * WIDTH);
}

static void from_tile(const V* y, const int* own, casadi_int next, casadi_int n, REAL* to, casadi_int count) {
  for (casadi_int j = 0; j < n; ++j)
    for (casadi_int t = 0; t < count; ++t) *(U*) (to + j * next + t * WIDTH) = y[t * Y + own[j]];
}

/* Fetch memory that is read or written next: the rows of a vector, or the lines of a tile. */
static inline __attribute__((always_inline)) void fetch(const REAL* p, casadi_int next, casadi_int n, const casadi_int tile) {
  casadi_int j, l, line = 64 / BYTES;
  if (tile == 1) next = WIDTH * n, n = 1;
  for (j = 0; j < n; ++j, p += next)
    for (l = 0; l < (tile == 1 ? next : WIDTH * tile); l += line) __builtin_prefetch(p + l, 1, 2);
}

/* States whose angles were too large for v_sincos, one after the other. */
static void again(const casadi_int* task, casadi_int k, casadi_int left, I large) {
  casadi_int state[3 * N + 1] = {1}, i, l;
  for (l = 0; l < WIDTH && l < left; ++l) {
    if (!large[l]) continue;
    for (i = 0; i < N; ++i) {
      const casadi_int* place = task + 3 * i + 1;
      state[3 * i + 1] = place[0] + BYTES * (k + l) * place[1];
      state[3 * i + 3] = place[2];
    }
    gdalembert_in_turn(state);
  }
}

static inline __attribute__((always_inline)) casadi_int by_tiles(const casadi_int* task, const casadi_int tile) {
  casadi_int n = task[0], k, i, l, t;
  char* memory = malloc(sizeof(V) * (tile * (X + Y) + SHARED + 1));
  if (!memory) return -1;
  V *x = (V*) ((uintptr_t) (memory + sizeof(V) - 1) / sizeof(V) * sizeof(V)), *y = x + tile * X, *shared = y + tile * Y;
  for (k = 0; k < n; k += tile * WIDTH) {
    const casadi_int *place = task + 1, left = n - k;
    const casadi_int whole = left < tile * WIDTH ? left / WIDTH : tile;
    const casadi_int count = tile > 1 && whole < tile ? (left - 1) / WIDTH + 1 : tile;
    I large[TILE];
    for (t = 0; t < tile; ++t) large[t] = (I) {0};
    V* v = x;
    for (i = 0; i < N_IN; ++i, place += 3) {
      const REAL* from = (const REAL*) place[0] + k * place[1];
      t = place[1] || !k ? 0 : count;
      if (tile > 1 && place[1] == 1) {
        to_tile(from, place[2], SIZE(i), v, t = whole);
        fetch(from + tile * WIDTH, place[2], SIZE(i), tile);
      }
      for (; t < count; ++t)
        to_vectors(from + t * WIDTH * place[1], place[1], place[2], left - t * WIDTH, SIZE(i), v + t * X);
      v += SIZE(i);
    }
    for (i = N_IN; i < N; ++i, place += 3) /* while it computes, unless they would leave the cache before */
      if (tile > 1 || SIZE(i) * (casadi_int) sizeof(V) <= FIRST_CACHE)
        fetch((const REAL*) place[0] + k * place[1], place[2], SIZE(i), tile);
    for (t = 0; t < count; ++t) together(x + t * X, y + t * Y, shared, large + t);
    place = task + 1 + 3 * N_IN;
    const int* own = source;
    for (i = N_IN; i < N; ++i, place += 3) {
      REAL* to = (REAL*) place[0] + k * place[1];
      t = 0;
      if (tile > 1) from_tile(y, own, place[2], SIZE(i), to, t = whole);
      for (; t < count; ++t)
        from_vectors(y + t * Y, own, place[1], place[2], left - t * WIDTH, SIZE(i), to + t * WIDTH * place[1]);
      own += SIZE(i);
    }
    for (t = 0; t < count; ++t) {
      int any = 0;
      for (l = 0; l < WIDTH; ++l) any |= large[t][l] != 0;
      if (any) again(task, k + t * WIDTH, left - t * WIDTH, large[t]);
    }
  }
  free(memory);
  return 0;
}

CASADI_SYMBOL_EXPORT int gdalembert_width(void) { return WIDTH; }

CASADI_SYMBOL_EXPORT casadi_int gdalembert_together(const casadi_int* task) {
  int i, side_by_side = 1;
  for (i = N_IN; i < N; ++i) side_by_side &= task[3 * i + 2] == 1;
  return side_by_side ? by_tiles(task, TILE) : by_tiles(task, 1);
}
