/* Batches, WIDTH states at a time: entry j of all of them is a vector, x[j] or y[j]. */
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
typedef double Row __attribute__((vector_size(8 * SIDE), aligned(8), may_alias));
typedef int64_t Indices __attribute__((vector_size(8 * SIDE)));

static inline __attribute__((always_inline)) void turn(const double* from, casadi_int step, double* to, casadi_int next) {
#if SIDE == 4
  const Row a = *(const Row*) from, b = *(const Row*) (from + step);
  const Row c = *(const Row*) (from + 2 * step), d = *(const Row*) (from + 3 * step);
  const Row ab = SHUFFLE(a, b, 0, 4, 2, 6), ba = SHUFFLE(a, b, 1, 5, 3, 7);
  const Row cd = SHUFFLE(c, d, 0, 4, 2, 6), dc = SHUFFLE(c, d, 1, 5, 3, 7);
  *(Row*) to = SHUFFLE(ab, cd, 0, 1, 4, 5), *(Row*) (to + next) = SHUFFLE(ba, dc, 0, 1, 4, 5);
  *(Row*) (to + 2 * next) = SHUFFLE(ab, cd, 2, 3, 6, 7), *(Row*) (to + 3 * next) = SHUFFLE(ba, dc, 2, 3, 6, 7);
#else
  const Row a = *(const Row*) from, b = *(const Row*) (from + step);
  *(Row*) to = SHUFFLE(a, b, 0, 2), *(Row*) (to + next) = SHUFFLE(a, b, 1, 3);
#endif
}

static void to_vectors(const double* from, casadi_int step, casadi_int rows, casadi_int n, V* x) {
  casadi_int j, l;
  if (rows >= WIDTH && n >= SIDE) {
    for (j = 0; j < n; j += SIDE) {
      if (j > n - SIDE) j = n - SIDE;
      for (l = 0; l < WIDTH; l += SIDE) turn(from + l * step + j, step, (double*) (x + j) + l, WIDTH);
    }
  } else { /* the last row stands for those behind it */
    for (l = 0; l < WIDTH; ++l, from += l < rows ? step : 0)
      for (j = 0; j < n; ++j) x[j][l] = from[j];
  }
}

static void to_rows(const V* y, casadi_int step, casadi_int rows, casadi_int n, double* to) {
  casadi_int j, l;
  if (rows >= WIDTH && n >= SIDE) {
    for (j = 0; j < n; j += SIDE) {
      if (j > n - SIDE) j = n - SIDE;
      for (l = 0; l < WIDTH; l += SIDE) turn((const double*) (y + j) + l, WIDTH, to + l * step + j, step);
    }
  } else {
    for (l = 0; l < WIDTH && l < rows; ++l, to += step)
      for (j = 0; j < n; ++j) to[j] = y[j][l];
  }
}

/* States whose angles were too large for v_sincos, one after the other. */
static void again(const casadi_int* task, casadi_int k, casadi_int rows, I large) {
  casadi_int state[2 * N + 1] = {1}, i, l;
  for (l = 0; l < WIDTH && l < rows; ++l) {
    if (!large[l]) continue;
    for (i = 0; i < N; ++i) state[2 * i + 1] = task[2 * i + 1] + 8 * (k + l) * task[2 * i + 2];
    gdalembert_in_turn(state);
  }
}

CASADI_SYMBOL_EXPORT int gdalembert_width(void) { return WIDTH; }

CASADI_SYMBOL_EXPORT casadi_int gdalembert_together(const casadi_int* task) {
  casadi_int n = task[0], k, i, l;
  char *memory = malloc(sizeof(V) * (X + Y + SHARED + 1)), *p;
  if (!memory) return -1;
  V *x = (V*) ((uintptr_t) (memory + sizeof(V) - 1) / sizeof(V) * sizeof(V)), *y = x + X, *shared = y + Y;
  for (k = 0; k < n; k += WIDTH) {
    const casadi_int *place = task + 1, rows = n - k;
    I large = {0};
    int any = 0;
    V* v = x;
    for (i = 0; i < N_IN; ++i, place += 2) {
      casadi_int size = shapes[i][1] * shapes[i][2];
      if (place[1] || !k) to_vectors((const double*) place[0] + k * place[1], place[1], rows, size, v);
      v += size;
    }
    for (i = N_IN; i < N; ++i, place += 2) { /* fetch the lines to be written meanwhile */
      p = (char*) ((double*) place[0] + k * place[1]);
      for (l = 0; l < WIDTH * shapes[i][1] * shapes[i][2]; l += 8) __builtin_prefetch(p + 8 * l, 1, 2);
    }
    together(x, y, shared, &large);
    place = task + 1 + 2 * N_IN;
    v = y;
    for (i = N_IN; i < N; ++i, place += 2) {
      casadi_int size = shapes[i][1] * shapes[i][2];
      to_rows(v, place[1], rows, size, (double*) place[0] + k * place[1]);
      v += size;
    }
    for (l = 0; l < WIDTH; ++l) any |= large[l] != 0;
    if (any) again(task, k, rows, large);
  }
  free(memory);
  return 0;
}
