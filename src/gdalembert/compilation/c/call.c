#include <stddef.h>
#include <stdlib.h>

/* Calls from Python. Of n states, one after the other:
   task is n, then the address of each input and output and its step from state to state. */
CASADI_SYMBOL_EXPORT casadi_int gdalembert_in_turn(const casadi_int* task) {
  casadi_int n_arg, n_res, n_iw, n_w, i, k, n = *task++, failed = 0;
  gdalembert_evaluate_work(&n_arg, &n_res, &n_iw, &n_w);
  const casadi_real** arg = (const casadi_real**) malloc(8 * (n_arg + n_res + n_iw + n_w + 1));
  if (!arg) return -1;
  casadi_real** res = (casadi_real**) (arg + n_arg);
  casadi_int* iw = (casadi_int*) (res + n_res);
  casadi_real* w = (casadi_real*) (iw + n_iw);
  int mem = gdalembert_evaluate_checkout();
  for (k = 0; k < n && !failed; ++k) {
    for (i = 0; i < N_IN; ++i) arg[i] = (const casadi_real*) task[2 * i] + k * task[2 * i + 1];
    for (i = N_IN; i < N; ++i) res[i - N_IN] = (casadi_real*) task[2 * i] + k * task[2 * i + 1];
    if (gdalembert_evaluate(arg, res, iw, w, mem)) failed = k + 1;
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

/* Called from Python with the tuples of inputs and outputs: of one state, or of many, where outputs, and inputs that are
   not the same for all states, have a row for each. 0: done; otherwise they must be checked. */
static void* call(void* const* tuples, int many) {
  casadi_int task[2 * N + 1] = {1}, code = 1;
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
    k = b->ndim - shape[0]; /* 1: a row for each state */
    given = b->shape + k;
    fit = b->format[0] == 'd' && !b->format[1] && (k == 0 || (k == 1 && many)) && (i < N_IN || k == many) &&
          given[0] == shape[1] && (shape[0] == 1 || given[1] == shape[2]);
    if (fit && k) {
      fit = !varies || i == 0 || task[0] == b->shape[0];
      task[0] = b->shape[0];
    }
    varies |= k;
    fit = fit && (i < N_IN || varies);
    task[2 * i + 1] = (casadi_int) b++->buf;
    task[2 * i + 2] = k * shape[1] * shape[2];
  }
  for (i = 0; i < N_IN && fit; ++i)
    for (k = N_IN; k < N; ++k) fit = fit && !overlap(held + i, held + k);
  if (fit) code = many ? gdalembert_together(task) : gdalembert_in_turn(task);
  while (b > held) release_buffer(--b);
  return new_int(code);
}

static void* one(void* self, void* const* tuples, ptrdiff_t n) { return call(tuples, 0); }
static void* few(void* self, void* const* tuples, ptrdiff_t n) { return call(tuples, 1); }

/* The function of one state, or of few. */
CASADI_SYMBOL_EXPORT void* gdalembert_call(void* const* python, int many) {
  static method definitions[] = {{"one", one, 0x80, 0}, {"few", few, 0x80, 0}}; /* of an array of arguments */
  count = python[0], get_item = python[1], get_buffer = python[2], release_buffer = python[3];
  clear_error = python[4], new_int = python[5], type_of = python[7], release = python[8], ndarray = python[9];
  return ((void* (*)(method*, void*, void*)) python[6])(definitions + many, 0, 0);
}
