/* Functions of many stages at once, as gauss_newton.c calls them. Generated code has others. */

typedef struct { /* a Function of many stages, and the address and the step, in numbers, of each of its arrays */
  int64_t (*of)(const int64_t* task);
  int64_t arrays;
  const int64_t* array;
} Function;

static int64_t evaluate(const Function* f, int64_t first, int64_t count) {
  int64_t task[3 * f->arrays + 1];
  task[0] = count;
  for (int64_t i = 0; i < f->arrays; ++i) {
    int64_t step = f->array[2 * i + 1];
    task[3 * i + 1] = f->array[2 * i] + (int64_t) sizeof(double) * first * step;
    task[3 * i + 2] = step, task[3 * i + 3] = 1; /* from one stage to the next, and from entry to entry */
  }
  return f->of(task);
}
