#include <stddef.h>
#include <stdlib.h>

#define SIZE(i) (shapes[i][1] * shapes[i][2])

/* Whether CasADi's code, which knows doubles alone, can take the entries of an array where they are. */
static int fits(const casadi_int* place) { return BYTES == 8 && place[2] == 1; }

/* Copies of the inputs of state k that do not fit, and room for such outputs. */
static void gather(
    const casadi_int* place, casadi_int k, const casadi_real** arg, casadi_real** res, casadi_real* copy) {
  casadi_int i, j;
  for (i = 0; i < N; ++i, place += 3) {
    if (fits(place)) continue;
    if (i < N_IN) arg[i] = copy;
    else res[i - N_IN] = copy;
    for (j = 0; i < N_IN && j < SIZE(i); ++j) copy[j] = ((const REAL*) place[0])[k * place[1] + j * place[2]];
    copy += SIZE(i);
  }
}

static void scatter(const casadi_int* place, casadi_int k, casadi_real** res) {
  casadi_int i, j;
  for (i = N_IN, place += 3 * N_IN; i < N; ++i, place += 3)
    for (j = 0; !fits(place) && j < SIZE(i); ++j)
      ((REAL*) place[0])[k * place[1] + j * place[2]] = res[i - N_IN][j];
}

/* Calls from Python. Of n states, one after the other: task is n, then the address of each input and output, its step
   from state to state, and its step from entry to entry. */
CASADI_SYMBOL_EXPORT casadi_int gdalembert_in_turn(const casadi_int* task) {
  casadi_int n_arg, n_res, n_iw, n_w, i, k, n = *task++, failed = 0, copied = 0;
  for (i = 0; i < N; ++i) copied += fits(task + 3 * i) ? 0 : SIZE(i);
  gdalembert_evaluate_work(&n_arg, &n_res, &n_iw, &n_w);
  const casadi_real** arg = (const casadi_real**) malloc(8 * (n_arg + n_res + n_iw + n_w + copied + 1));
  if (!arg) return -1;
  casadi_real** res = (casadi_real**) (arg + n_arg);
  casadi_int* iw = (casadi_int*) (res + n_res);
  casadi_real* w = (casadi_real*) (iw + n_iw);
  int mem = gdalembert_evaluate_checkout();
  for (k = 0; k < n && !failed; ++k) {
    for (i = 0; i < N_IN; ++i) arg[i] = (const casadi_real*) task[3 * i] + k * task[3 * i + 1];
    for (i = N_IN; i < N; ++i) res[i - N_IN] = (casadi_real*) task[3 * i] + k * task[3 * i + 1];
    if (copied) gather(task, k, arg, res, w + n_w);
    if (evaluate(arg, res, iw, w, mem)) failed = k + 1;
    if (copied) scatter(task, k, res);
  }
  gdalembert_evaluate_release(mem);
  free(arg);
  return failed;
}

typedef struct {
  void *buf, *obj; ptrdiff_t len, itemsize; int readonly, ndim; char* format; ptrdiff_t *shape, *strides, *suboffsets;
  void* internal;
} buffer;
typedef struct { const char* name; void* call; int flags; const char* doc; } method;
static ptrdiff_t (*count)(void*);
static void* (*get_item)(void*, ptrdiff_t);
static int (*get_buffer)(void*, buffer*, int);
static void (*release_buffer)(buffer*);
static void (*clear_error)(void);
static void* (*new_int)(long long);
static void* (*type_of)(void*);
static void (*release)(void*);
static void* ndarray;

static int overlap(const buffer* x, const buffer* y) {
  const char *a = x->buf, *b = y->buf;
  return a < b + y->len && b < a + x->len;
}

/* Whether it is NumPy's array itself: a masked one gives its buffer too, with the numbers under the mask. */
static int is_array(void* object) {
  void* type = type_of(object);
  release(type);
  return type == ndarray;
}

CASADI_SYMBOL_EXPORT casadi_int gdalembert_together(const casadi_int* task);

/* Called from Python with the tuples of inputs and outputs: of ONE state, or of few, of which outputs, and inputs that
   are not the same for all states, have a FIRST axis, or a LAST one. 0: done; otherwise they must be checked, or are
   more than FEW states, for which Python's lock is not kept. */
enum { ONE, FIRST, LAST };

static void* call(void* const* tuples, int many) {
  casadi_int task[3 * N + 1] = {1}, code = 1;
  buffer held[N + 1], *b = held;
  int i, k, varies = !many, fit = count(tuples[0]) == N_IN && count(tuples[1]) == N - N_IN;
  for (i = 0; i < N && fit; ++i) {
    const ptrdiff_t *shape = shapes[i], *given;
    void* array = i < N_IN ? get_item(tuples[0], i) : get_item(tuples[1], i - N_IN);
    if (i < N_IN && !is_array(array)) {
      fit = 0;
      break;
    }
    if (get_buffer(array, b, i < N_IN ? 0x3c : 0x3d)) { /* in C order, with its format; writable */
      clear_error();
      fit = 0;
      break;
    }
    k = b->ndim - shape[0]; /* 1: an entry, or a row, is that of many states */
    given = b->shape + (many == FIRST ? k : 0);
    fit = b->format[0] == (BYTES == 8 ? 'd' : 'f') && !b->format[1] && (k == 0 || (k == 1 && many)) &&
          (i < N_IN || k == !!many) && given[0] == shape[1] && (shape[0] == 1 || given[1] == shape[2]);
    if (fit && k) {
      casadi_int states = b->shape[many == FIRST ? 0 : shape[0]];
      fit = !varies || i == 0 || task[0] == states;
      task[0] = states;
    }
    varies |= k;
    fit = fit && (i < N_IN || varies);
    task[3 * i + 1] = (casadi_int) b++->buf;
    task[3 * i + 2] = !k ? 0 : many == FIRST ? SIZE(i) : 1;
    task[3 * i + 3] = k && many == LAST ? task[0] : 1;
  }
  for (i = 0; i < N_IN && fit; ++i)
    for (k = N_IN; k < N; ++k) fit = fit && !overlap(held + i, held + k);
  fit = fit && (!many || task[0] <= FEW);
  if (fit) code = many ? gdalembert_together(task) : gdalembert_in_turn(task);
  while (b > held) release_buffer(--b);
  return new_int(code);
}

static void* one(void* self, void* const* tuples, ptrdiff_t n) { return call(tuples, ONE); }
static void* first(void* self, void* const* tuples, ptrdiff_t n) { return call(tuples, FIRST); }
static void* last(void* self, void* const* tuples, ptrdiff_t n) { return call(tuples, LAST); }

/* The function of one state, or of many. */
CASADI_SYMBOL_EXPORT void* gdalembert_call(void* const* python, int many) {
  static method definitions[] = {{"one", one, 0x80, 0}, {"first", first, 0x80, 0}, {"last", last, 0x80, 0}};
  count = python[0], get_item = python[1], get_buffer = python[2], release_buffer = python[3];
  clear_error = python[4], new_int = python[5], type_of = python[7], release = python[8], ndarray = python[9];
  return ((void* (*)(method*, void*, void*)) python[6])(definitions + many, 0, 0);
}
