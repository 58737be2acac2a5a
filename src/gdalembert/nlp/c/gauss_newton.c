/* One Gauss-Newton step of an optimal control problem, from the shift of the last plan to the next one.

   A plan has, at n + 1 instants, a state x (STATE numbers, whose steps have NX), inputs u (NU) and unknowns w (ELIMINATED)
   of equations, which are eliminated: w changes by K z + k. Functions of many stages at once write where they are called:

     stage     x, u, w, y   ->  L, K, k, A, b, E, H, g, cost, R, lower, upper, F, S, s, w_s, D
     jump      x, w, x_next ->  y, J, j      where a state jumps behind an interval: its step is J (A z + b) + j
     start     x, x_0       ->  x_0 less x
     retract   x, u, w, z, change -> the next x, u and w

   y is the state at the end of the interval. The equations of w are L change = K z + k, with rows and columns of L in an
   order in which its pivots are on the diagonal and few zeros fill in. What changes with w too: A z + b + E change, the rows
   R z + F change, which become those of G, where they have limits, and the squares w_s (S z + s + D change)^2; E, F, R and D
   are sparse. A stage and a jump are those of its
   set. Of H, the squares that change with w are in the upper triangle alone, which is the one that is read. Macros beside
   those of stage_qp.c: STATE, ELIMINATED, SQUARES. functions.c has Function and evaluate. */

typedef struct { /* a sparse matrix of each stage: the row and the column of each of its entries */
  int64_t entries;
  const int64_t* place;
  const double* entry;
} Sparse;

typedef struct {
  int64_t n;
  double *x, *u, *w, *y, *z, *change, *next_x, *next_u, *next_w, *L, *K, *k, *A, *b, *H, *g, *cost, *G, *lower, *upper;
  double *S, *s, *w_s, *J, *j;
  double *x_0, *w1, *w2; /* of the quadratic program; weights of -1 and 0 are of what is hard */
  const int64_t* order; /* of the unknowns in L */
  const Sparse *E, *F, *R, *D; /* by set */
  const int64_t *set, *lands; /* of each stage; the set of the jump after an interval, or -1 */
  const Function *stage, *jump, *start, *retract;
  const Program* program;
  Stage* memory;
  double penalty, first_gap, weight, raised; /* chosen here where they are 0; the last penalty, and its factor */
  double step, gap, infeasibility, iterations; /* what is found */
} Tick;

/* Cut off the first rows; the last one stands for those behind it. */
static void cut(double* rows, int64_t n, int64_t width, int64_t by) {
  int64_t kept = n - by > 1 ? n - by : 1;
  (void) memmove(rows, rows + (n - kept) * width, sizeof(double) * kept * width);
  for (int64_t k = kept; k < n; ++k) memcpy(rows + k * width, rows + (kept - 1) * width, sizeof(double) * width);
}

/* Row p of K z + k less rows `from` ... `to` - 1, each times its entry of `own`, in registers. */
static void subtract(const double* own, int from, int to, Row* K, double* k, const int64_t* order, int64_t p) {
  V y[ZB];
  (void) memcpy(y, K[p], sizeof y);
  for (int q = from; q < to; ++q) {
    if (!own[q]) continue;
    add(-own[q], K[order[q]], y);
    k[p] -= own[q] * k[order[q]];
  }
  (void) memcpy(K[p], y, sizeof y);
}

/* K and k of the equations L change = K z + k, in place. */
static void solve_equations(double* L, Row* K, double* k, const int64_t* order) {
  double inverse[ELIMINATED + 1];
  for (int p = 0; p < ELIMINATED; ++p) {
    double* own = L + p * ELIMINATED;
    for (int q = 0; q < p; ++q) {
      if (!own[q]) continue;
      own[q] *= inverse[q];
      for (int c = q + 1; c < ELIMINATED; ++c) own[c] -= own[q] * L[q * ELIMINATED + c];
    }
    inverse[p] = 1 / own[p];
    subtract(own, 0, p, K, k, order, order[p]);
  }
  for (int p = ELIMINATED - 1; p >= 0; --p) {
    subtract(L + p * ELIMINATED, p + 1, ELIMINATED, K, k, order, order[p]);
    for (int c = 0; c < ZB; ++c) K[order[p]][c] *= inverse[p];
    k[order[p]] *= inverse[p];
  }
}

/* rows += M K, values += M k. */
static void add_change(const Sparse* M, int64_t stage, const Row* K, const double* k, Row* rows, double* values) {
  const double* entry = M->entry + stage * M->entries;
  for (int64_t e = 0; e < M->entries; ++e) {
    int64_t row = M->place[2 * e], column = M->place[2 * e + 1];
    add(entry[e], K[column], rows[row]);
    values[row] += entry[e] * k[column];
  }
}

/* The rows R of a stage as those of G, if they have limits or change with w. */
static void place_rows(Tick* t, int64_t i) {
  const Sparse *R = t->R + t->set[i], *F = t->F + t->set[i];
  const double *entry = R->entry + i * R->entries, *lower = t->lower + i * NC + NZP, *upper = t->upper + i * NC + NZP;
  double(*G)[NZP] = (double(*)[NZP]) t->G + i * NG;
  char placed[NG + 1] = {0};
  for (int64_t e = 0; e < F->entries; ++e) placed[F->place[2 * e]] = 1;
  for (int r = 0; r < NG; ++r) {
    placed[r] |= !(lower[r] == -INFINITY && upper[r] == INFINITY);
    if (placed[r] != 0) (void) memset(G[r], 0, sizeof G[r]);
  }
  for (int64_t e = 0; e < R->entries; ++e)
    if (placed[R->place[2 * e]]) G[R->place[2 * e]][R->place[2 * e + 1]] = entry[e];
}

/* What the elimination of w makes of a stage. */
static void eliminate(Tick* t, int64_t i) {
  Row *K = (Row*) t->K + i * ELIMINATED, *S = (Row*) t->S + i * SQUARES, *H = (Row*) t->H + i * NZ;
  double *k = t->k + i * ELIMINATED, *s = t->s + i * SQUARES, *g = t->g + i * NZP, values[NG + 1] = {0};
  const double* weight = t->w_s + i * SQUARES;
  Row weighted[SQUARES + 1];
  solve_equations(t->L + i * ELIMINATED * ELIMINATED, K, k, t->order);
  add_change(t->E + t->set[i], i, (const Row*) K, k, (Row*) t->A + i * NX, t->b + i * NX);
  add_change(t->F + t->set[i], i, (const Row*) K, k, (Row*) t->G + i * NG, values);
  for (int r = 0; r < NG; ++r) t->lower[i * NC + NZP + r] -= values[r], t->upper[i * NC + NZP + r] -= values[r];
  add_change(t->D + t->set[i], i, (const Row*) K, k, S, s);
  for (int r = 0; r < SQUARES; ++r) {
    double slope = 2 * weight[r];
    for (int c = 0; c < ZB; ++c) weighted[r][c] = slope * S[r][c];
    add(s[r], weighted[r], (V*) g);
    t->cost[i] += weight[r] * s[r] * s[r];
  }
  product(1, (const double*) weighted, (const Row*) S, SQUARES, H, NZ, 0);
}

/* Shift the plan, and make the quadratic program about it; another number than 0 if a Function fails. */
int64_t gauss_newton_prepare(Tick* t, int64_t by) {
  int64_t n = t->n, failed = 0;
  if (by > 0) cut(t->x, n + 1, STATE, by), cut(t->u, n, NU, by), cut(t->w, n, ELIMINATED, by);
  (void) memcpy(t->y, t->x + STATE, sizeof(double) * n * STATE);
  (void) memcpy(t->y + n * STATE, t->x + n * STATE, sizeof(double) * STATE);
  for (int64_t k = 0; k < n; ++k)
    if (t->lands[k] >= 0) failed |= evaluate(t->jump + t->lands[k], k, 1);
  for (int64_t k = 0, end; k <= n; k = end) {
    for (end = k + 1; end <= n && end - k < WIDE && t->set[end] == t->set[k];) ++end;
    failed |= evaluate(t->stage + t->set[k], k, end - k);
    for (int64_t i = k; i < end; ++i) { /* while they are in the cache */
      place_rows(t, i);
      if (i < n) eliminate(t, i);
    }
  }
  for (int64_t k = 0; k < n; ++k) {
    if (t->lands[k] < 0) continue;
    double A[NX][NZP], b[NX], *to = t->A + k * NX * NZP, *offset = t->b + k * NX;
    const double *J = t->J + k * NX * NX, *j = t->j + k * NX;
    (void) memcpy(A, to, sizeof A), memcpy(b, offset, sizeof b);
    for (int r = 0; r < NX; ++r) {
      offset[r] = j[r];
      (void) memset(to + r * NZP, 0, sizeof A[0]);
      for (int s = 0; s < NX; ++s) {
        offset[r] += J[r * NX + s] * b[s];
        for (int c = 0; c < NZP; ++c) to[r * NZP + c] += J[r * NX + s] * A[s][c];
      }
    }
  }
  return failed;
}

/* What soft limits cost: ten times the steepest cost, times what the first steps raised it by, and more for rows that
   move by less than z does, and for equations, whose forces are those of whole motions. It follows from tick to tick, up
   by a quarter and down by a fifth at most, so that one target far away does not spoil it. */
static void weigh(Tick* t) {
  double steepest = norm(t->g, (t->n + 1) * NZP), weight = t->penalty;
  if (weight <= 0) {
    weight = 10 * t->raised * (steepest > 1e-6 ? steepest : 1e-6);
    if (t->weight > 0) weight = fmin(fmax(weight, 0.8 * t->weight), 1.25 * t->weight);
  }
  if (!(weight < INFINITY)) return;
  t->weight = weight;
  for (int i = 0; i < NC; ++i) {
    double slope = 0, more = 1;
    for (int64_t k = 0; k <= t->n && i >= NZP && i < NZP + NG; ++k)
      if (!(t->lower[k * NC + i] == -INFINITY && t->upper[k * NC + i] == INFINITY))
        slope = fmax(slope, norm(t->G + (k * NG + i - NZP) * NZP, NZ));
    for (int64_t k = 0; k <= t->n && !t->penalty; ++k)
      if (t->lower[k * NC + i] == t->upper[k * NC + i]) more = 10;
    if (t->w1[i] >= 0) t->w1[i] = t->w2[i] = more * weight / (slope > 0 && slope < 1 && !t->penalty ? slope : 1);
  }
}

/* The step from the measured x_0 on: 0: the plan is the next one; 1: a number is not finite, and the plan is the last one;
   2: so it is, because the step is more than `largest` times as large as the plan. */
int64_t gauss_newton_step(Tick* t, double* delta, int64_t iterations, double largest) {
  int64_t n = t->n;
  double cost = 0, found[4];
  weigh(t);
  if (evaluate(t->start, 0, 1) != 0) return 1;
  for (int64_t k = 0; k <= n; ++k) cost += t->cost[k];
  double kick = norm(delta, NX), first_gap = 1e-2 * cost / n, kicked = 2e-3 * t->weight;
  if (kicked < first_gap) first_gap = kicked; /* of a goal out of reach, the cost is no measure of what can be gained */
  if (kicked * kick > first_gap) first_gap = kicked * fmin(kick, 1); /* far from the plan, start far from limits */
  if (t->first_gap > 0) first_gap = t->first_gap;
  first_gap = first_gap > 1e-9 ? first_gap : 1e-9;
  (void) memcpy(t->x_0, delta, sizeof(double) * NX);
  (void) memset(t->z, 0, sizeof(double) * (n + 1) * NZP);
  (void) stage_qp((int) n, t->program, t->memory, (int) iterations, 1e-6 * first_gap, first_gap, t->z, found);
  t->iterations = found[0], t->gap = found[1], t->infeasibility = found[2], t->step = 0;
  for (int64_t k = 0; k <= n; ++k) t->step = fmax(t->step, norm(t->z + k * NZP + NU, NX));
  double size = norm(t->x, (n + 1) * STATE);
  t->step /= size > 1 ? size : 1;
  if (found[3] == 2 || !(t->step < INFINITY)) return 1;
  if (t->step > largest) return 2;
  for (int64_t k = 0; k < n; ++k)
    for (int i = 0; i < ELIMINATED; ++i) {
      double change = t->k[k * ELIMINATED + i];
      for (int c = 0; c < NZP; ++c) change += t->K[(k * ELIMINATED + i) * NZP + c] * t->z[k * NZP + c];
      t->change[k * ELIMINATED + i] = change;
    }
  if (evaluate(t->retract, 0, n + 1) || !(norm(t->next_x, (n + 1) * STATE) < INFINITY)) return 1;
  (void) memcpy(t->x, t->next_x, sizeof(double) * (n + 1) * STATE);
  (void) memcpy(t->u, t->next_u, sizeof(double) * (n + 1) * NU);
  (void) memcpy(t->w, t->next_w, sizeof(double) * (n + 1) * ELIMINATED);
  return 0;
}

/* Both; 3 if a Function fails. */
int64_t gauss_newton_tick(Tick* t, double* delta, int64_t by, int64_t iterations, double largest) {
  return gauss_newton_prepare(t, by) ? 3 : gauss_newton_step(t, delta, iterations, largest);
}
