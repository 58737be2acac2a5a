/* Batches, WIDTH states at a time: entry j of all of them is a vector, x[j] or y[j]. */
#include <string.h>

#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (I) {__VA_ARGS__})
#endif
#define SWAP(i, k, LOW, HIGH) { V a = t[i], b = t[k]; t[i] = SHUFFLE(a, b, LOW), t[k] = SHUFFLE(a, b, HIGH); }
#define UNROLL _Pragma("GCC unroll 8")

static inline __attribute__((always_inline)) void transpose(V* t) {
#if WIDTH == 8
#define LOW_4 0, 1, 2, 3, 8, 9, 10, 11
#define HIGH_4 4, 5, 6, 7, 12, 13, 14, 15
#define LOW_2 0, 1, 8, 9, 4, 5, 12, 13
#define HIGH_2 2, 3, 10, 11, 6, 7, 14, 15
#define LOW_1 0, 8, 2, 10, 4, 12, 6, 14
#define HIGH_1 1, 9, 3, 11, 5, 13, 7, 15
  SWAP(0, 4, LOW_4, HIGH_4) SWAP(1, 5, LOW_4, HIGH_4) SWAP(2, 6, LOW_4, HIGH_4) SWAP(3, 7, LOW_4, HIGH_4)
  SWAP(0, 2, LOW_2, HIGH_2) SWAP(1, 3, LOW_2, HIGH_2) SWAP(4, 6, LOW_2, HIGH_2) SWAP(5, 7, LOW_2, HIGH_2)
  SWAP(0, 1, LOW_1, HIGH_1) SWAP(2, 3, LOW_1, HIGH_1) SWAP(4, 5, LOW_1, HIGH_1) SWAP(6, 7, LOW_1, HIGH_1)
#elif WIDTH == 4
#define LOW_2 0, 1, 4, 5
#define HIGH_2 2, 3, 6, 7
#define LOW_1 0, 4, 2, 6
#define HIGH_1 1, 5, 3, 7
  SWAP(0, 2, LOW_2, HIGH_2) SWAP(1, 3, LOW_2, HIGH_2)
  SWAP(0, 1, LOW_1, HIGH_1) SWAP(2, 3, LOW_1, HIGH_1)
#else
#define LOW_1 0, 2
#define HIGH_1 1, 3
  SWAP(0, 1, LOW_1, HIGH_1)
#endif
}

/* Whether squares of WIDTH x WIDTH entries may be moved: a narrow one takes the beginning of the next row with it. */
static int squares(casadi_int rows, casadi_int n, casadi_int step) {
  return n >= WIDTH ? rows >= WIDTH : rows > WIDTH && n == step && 2 * n > WIDTH;
}

static void to_vectors(const double* from, casadi_int step, casadi_int rows, casadi_int n, V* x) {
  casadi_int j, l;
  if (squares(rows, n, step)) {
    for (j = 0; j < n; j += WIDTH) {
      V t[WIDTH];
      if (j && j > n - WIDTH) j = n - WIDTH;
      UNROLL for (l = 0; l < WIDTH; ++l) t[l] = *(const U*) (from + l * step + j);
      transpose(t);
      UNROLL for (l = 0; l < WIDTH; ++l) x[j + l] = t[l];
    }
  } else { /* the last row stands for those behind it */
    for (l = 0; l < WIDTH; ++l, from += l < rows ? step : 0)
      for (j = 0; j < n; ++j) x[j][l] = from[j];
  }
}

static void to_rows(const V* y, casadi_int step, casadi_int rows, casadi_int n, double* to) {
  casadi_int j, l;
  if (squares(rows, n, step)) {
    for (j = 0; j < n; j += WIDTH) {
      V t[WIDTH];
      if (j && j > n - WIDTH) j = n - WIDTH;
      UNROLL for (l = 0; l < WIDTH; ++l) t[l] = y[j + l];
      transpose(t);
      UNROLL for (l = 0; l < WIDTH; ++l) *(U*) (to + l * step + j) = t[l];
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
    I large = {0}, any = {0};
    V* v = x;
    for (i = 0; i < N_IN; ++i, place += 2) {
      casadi_int size = shapes[i][1] * shapes[i][2];
      if (place[1] || !k) to_vectors((const double*) place[0] + k * place[1], place[1], rows, size, v);
      v += PADDED(size);
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
      v += PADDED(size);
    }
    for (l = 0; l < WIDTH; ++l) any[0] |= large[l];
    if (any[0]) again(task, k, rows, large);
  }
  free(memory);
  return 0;
}
