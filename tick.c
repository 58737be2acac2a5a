/*
 * Real-time iterations of puma560_3.
 *
 * int tick(int shift) cuts off the first intervals of the plan and takes one step. It returns
 *
 *    0  if the step is taken
 *    1, 2, 3  if the last plan, shifted, stands for it: the step is not finite, is out of all proportion, or cannot be
 *             evaluated
 *    4  if the step is taken, but more than 50% of the violations are left
 *   -1  if shift is not from 0 to 0; then nothing is done
 *
 * Before it, write tick_x_0, [q; v] as measured (and behind it u before, where rates of u are read), and the
 * parameters; behind it, tick_x and tick_u are the plan.
 * Arrays of double: tick_x (20 x 6); tick_u (20 x 3); tick_w (20 x 3); tick_x_0 (6); tick_x_end (20 x 6); tick_line (20
 * x 3).
 * Of the last step: double tick_step, its size relative to the plan; tick_gap and tick_infeasibility, what the
 * interior point left of its gap and of violations (0 to 1).
 *
 * Phases cannot be shifted: shift is 0. A phase has rows a to b of tick_x and of parameters of every
 * instant, and rows a to b - 1 of tick_u:
 *    phase 1  rows 0 to 10
 *    phase 2  rows 11 to 19
 * The end of a phase is in row b of tick_x_end.
 */
#define NX 6
#define NU 3
#define NG 1
#define FREE 0
#define STATE 6
#define ELIMINATED 3
#define SQUARES 6
#define WIDE 8
/* A quadratic program of an optimal control problem, by an interior point and a Riccati recursion.

     min  sum_k  z_k' H_k z_k / 2 + g_k' z_k + penalties,      z_k = (u_k, x_k),  k = 0 ... n,
          x_(k+1) = A_k z_k + b_k,  x_0 given,   lower_k <= c_k = (z_k, G_k z_k) <= upper_k.

   Limits are hard, or soft: to be s beyond one costs w1 s + w2 s^2 / 2. Of a limit c <= h + s with slack t = h + s - c, a
   force l on c, and a force p that keeps s >= 0, the conditions are l t = mu, p s = mu, w1 + w2 s = l + p. In their Newton
   step, with w = w2 s + p and e = 1 / (t w + l s), or 1 / (t w) if it is hard, l changes by l w e times the step of c and by
   a number, `fixed`. Predictor and corrector (Mehrotra 1992) share a factorization.

   Of x_0, entries are free where `free` is 1, if FREE is 1; they take their minimum of the cost to go.

   Macros: NX, NU, NG, FREE. A limit of w1 < 0 is hard. Rows of matrices, and z, are filled up to whole vectors of WIDE doubles,
   and so are rows of limits. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined WIDE /* by generated code, whose arrays have it */
#elif defined __AVX512F__
#define WIDE 8
#elif defined __AVX__
#define WIDE 4
#else
#define WIDE 2
#endif
enum { NZ = NX + NU, ZB = (NZ + WIDE - 1) / WIDE, GB = (NG + WIDE - 1) / WIDE, CB = ZB + GB, NZP = WIDE * ZB, NC = WIDE * CB };
typedef double V __attribute__((vector_size(8 * WIDE)));
typedef int64_t I __attribute__((vector_size(8 * WIDE)));
typedef V Row[ZB];

typedef struct { /* the limits on one side; `on` is 1 where there is one, `soft` where it is soft; divisions are slow */
  V least[CB]; /* of a product of a force and its slack, in equations: without it, stiffness would round all else off */
  V h[CB], on[CB], soft[CB], t[CB], l[CB], s[CB], p[CB], dt[CB], dl[CB], ds[CB], dp[CB], e[CB], by_tl[CB], by_sp[CB];
} Side;
typedef struct {
  Row L[NU + !NU]; /* of the Cholesky factor */
  V z[ZB], step[ZB], c[CB], D[CB], r[CB];
  double inverse[NU + !NU], p[NX], feed[NU + !NU], Pb[NX];
  Side side[2];
#if FREE
  double P[NX][NX], L_0[NX][NX]; /* of x_0: of the cost to go, and the Cholesky factor of its free entries */
#endif
} Stage;
typedef struct { /* of all stages, one after the other; the weights are those of each of them */
  const Row *A, *H, *g, *G;
  const double *b, *lower, *upper, *x_0, *w1, *w2, *free;
} Program;

static inline V every(double x) { return x - (V) {0}; }
static inline V larger(V a, V b) { I more = a > b; return (V) ((more & (I) a) | (~more & (I) b)); }
static inline double sum(V a) { double y = 0; for (int i = 0; i < WIDE; ++i) y += a[i]; return y; }
static inline double largest(V a) { double y = a[0]; for (int i = 1; i < WIDE; ++i) y = a[i] > y ? a[i] : y; return y; }
static inline double dot(const V* a, const V* b) {
  V y = a[0] * b[0];
  for (int c = 1; c < ZB; ++c) y += a[c] * b[c];
  return sum(y);
}
static inline void add(double x, const V* row, V* to) {
  for (int c = 0; c < ZB; ++c) to[c] += x * row[c];
}

/* out[i] += sum_j a(i, j) m[j], for R rows and W vectors of each from c on; a is by columns if `turned`. */
static inline __attribute__((always_inline)) void
block(int R, int W, int turned, const double* a, const Row* m, int n, Row* out, int c) {
  V y[8][3];
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 3
    for (int k = 0; k < W; ++k) y[i][k] = out[i][c + k];
  for (int j = 0; j < n; ++j)
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      V x = every(turned ? a[j * NZP + i] : a[i * NZP + j]);
#pragma GCC unroll 3
      for (int k = 0; k < W; ++k) y[i][k] += x * m[j][c + k];
    }
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 3
    for (int k = 0; k < W; ++k) out[i][c + k] = y[i][k];
}

static inline __attribute__((always_inline)) void
rows(int R, int turned, const double* a, const Row* m, int n, Row* out, int from) {
  int c = from;
  for (; c + 3 <= ZB; c += 3) block(R, 3, turned, a, m, n, out, c);
  if (ZB - c == 2) block(R, 2, turned, a, m, n, out, c);
  if (ZB - c == 1) block(R, 1, turned, a, m, n, out, c);
}

/* out += a m of `count` rows; of a symmetric matrix whose row `first` is out[0], right of the diagonal alone. */
static void product(int turned, const double* a, const Row* m, int n, Row* out, int count, int first) {
  for (int i = 0, R; i < count; i += R) {
    int from = first < 0 ? 0 : (first + i) / WIDE;
    const double* at = a + (turned ? i : i * NZP);
    R = WIDE == 8 && count - i >= 8 ? 8 : count - i >= 4 ? 4 : count - i >= 2 ? 2 : 1;
    if (R == 8) rows(8, turned, at, m, n, out + i, from); /* R W vectors stay in registers */
    else if (R == 4) rows(4, turned, at, m, n, out + i, from);
    else if (R == 2) rows(2, turned, at, m, n, out + i, from);
    else rows(1, turned, at, m, n, out + i, from);
  }
}

#if FREE
static void factor_start(const double* free, const Row* P, Stage* own) {
  for (int i = 0; i < NX; ++i)
    for (int j = 0; j <= i; ++j) {
      double x = own->P[i][j] = own->P[j][i] = ((const double*) P[j])[NU + i];
      if (!free[i] || !free[j]) x = i == j;
      for (int m = 0; m < j; ++m) x -= own->L_0[i][m] * own->L_0[j][m];
      own->L_0[i][j] = i == j ? sqrt(x) : x / own->L_0[j][j];
    }
}

/* The free entries of x_0, where the slope of the cost to go is 0. */
static void free_start(const double* free, const Stage* own, double* x) {
  double y[NX];
  for (int i = 0; i < NX; ++i)
    if (free[i]) x[i] = 0;
  for (int i = 0; i < NX; ++i) {
    y[i] = free[i] ? -own->p[i] : 0;
    for (int j = 0; j < NX && free[i]; ++j) y[i] -= own->P[i][j] * x[j];
    for (int j = 0; j < i; ++j) y[i] -= own->L_0[i][j] * y[j];
    y[i] /= own->L_0[i][i];
  }
  for (int i = NX - 1; i >= 0; --i) {
    for (int j = i + 1; j < NX; ++j) y[i] -= own->L_0[j][i] * y[j];
    y[i] /= own->L_0[i][i];
  }
  for (int i = 0; i < NX; ++i)
    if (free[i]) x[i] = y[i];
}
#endif

/* Costs to go and Cholesky factors, from the last stage to the first. */
static void factor(int n, const Program* q, Stage* stages) {
  Row P[NX], rest[NX + NG + 1], active[NG + 1], S[NZ], minus[NU + !NU]; /* P: of the cost to go */
  for (int k = n; k >= 0; --k) {
    Stage* own = stages + k;
    const double* D = (const double*) own->D;
    int m = 0;
    memcpy(S, q->H + k * NZ, sizeof S);
    for (int i = 0; i < NZ; ++i) ((double*) S[i])[i] += D[i];
    if (k < n) {
      memset(rest, 0, sizeof(Row) * NX);
      product(0, (const double*) P[0] + NU, q->A + k * NX, NX, rest, NX, -1);
      product(1, (const double*) (q->A + k * NX), (const Row*) rest, NX, S, NZ, 0);
    }
    for (int j = 0; j < NG; ++j) {
      if (!D[NZP + j]) continue;
      for (int c = 0; c < ZB; ++c) active[m][c] = q->G[k * NG + j][c], rest[m][c] = D[NZP + j] * active[m][c];
      ++m;
    }
    if (m) product(1, (const double*) active, (const Row*) rest, m, S, NZ, 0);
    for (int i = 0; i < NU && k < n; ++i) {
      for (int c = 0; c < ZB; ++c) own->L[i][c] = S[i][c];
      for (int j = 0; j < i; ++j) add(((double*) minus[j])[i], own->L[j], own->L[i]);
      own->inverse[i] = 1 / sqrt(((double*) own->L[i])[i]);
      for (int c = 0; c < ZB; ++c) own->L[i][c] *= own->inverse[i];
      for (int c = 0; c < i; ++c) ((double*) own->L[i])[c] = 0;
      for (int c = 0; c < ZB; ++c) minus[i][c] = -own->L[i][c];
    }
    if (k < n) product(1, (const double*) minus + NU, (const Row*) own->L, NU, S + NU, NX, NU);
    memcpy(P, S + NU, sizeof P);
    for (int i = 0; i < NX; ++i)
      for (int j = i + 1; j < NX; ++j) ((double*) P[j])[NU + i] = ((double*) P[i])[NU + j];
#if FREE
    if (!k) factor_start(q->free, (const Row*) P, own);
#endif
    if (!k) break;
    V Pb[ZB] = {0};
    for (int j = 0; j < NX; ++j) add(q->b[(k - 1) * NX + j], P[j], Pb);
    memcpy(own[-1].Pb, (double*) Pb + NU, sizeof own->Pb);
  }
}

/* The minimum with the weights D and gradients r of limits, as `step`. */
static void solve(int n, const Program* q, Stage* stages) {
  for (int k = n; k >= 0; --k) {
    Stage* own = stages + k;
    const double* r = (const double*) own->r;
    V h[ZB];
    for (int c = 0; c < ZB; ++c) h[c] = q->g[k][c] + own->r[c];
    for (int j = 0; j < NG; ++j) add(r[NZP + j], q->G[k * NG + j], h);
    for (int j = 0; j < NX && k < n; ++j) add(own[1].p[j] + own->Pb[j], q->A[k * NX + j], h);
    for (int i = 0; i < NU && k < n; ++i) {
      own->feed[i] = ((double*) h)[i] * own->inverse[i];
      add(-own->feed[i], own->L[i], h);
    }
    memcpy(own->p, (double*) h + NU, sizeof own->p);
  }
  for (int k = 0; k <= n; ++k) {
    Stage* own = stages + k;
    double* z = (double*) own->step;
    memset(z, 0, sizeof own->step);
    for (int j = 0; j < NX; ++j) z[NU + j] = k ? q->b[(k - 1) * NX + j] + dot(q->A[(k - 1) * NX + j], own[-1].step) : q->x_0[j];
#if FREE
    if (!k) free_start(q->free, own, z + NU);
#endif
    for (int i = NU - 1; i >= 0 && k < n; --i) z[i] = -(own->feed[i] + dot(own->L[i], own->step)) * own->inverse[i];
  }
}

static void values(int k, const Program* q, const V* z, V* c) {
  memcpy(c, z, sizeof(V) * ZB);
  memset(c + ZB, 0, sizeof(V) * GB);
  for (int j = 0; j < NG; ++j) ((double*) (c + ZB))[j] = dot(q->G[k * NG + j], z);
}

typedef struct { V q, fixed, by_t, by_s; } Newton;

/* What changes on one side without a step of c; `corrected` by the predictor, or not. */
static inline Newton newton(const Side* x, int i, V c, V w1, V w2, double mu, double corrected) {
  Newton y;
  V goal = larger(every(mu), x->least[i]);
  y.by_t = x->on[i] * (x->h[i] + x->soft[i] * x->s[i] - c - x->t[i]);
  y.by_s = x->soft[i] * ((goal - corrected * x->dp[i] * x->ds[i]) * x->by_sp[i] - 1) * x->p[i];
  V force = x->l[i] * ((goal - corrected * x->dt[i] * x->dl[i] - x->l[i] * y.by_t) * x->by_tl[i] - 1);
  y.q = x->soft[i] * (x->l[i] + x->p[i] - w1 - w2 * x->s[i] + force + y.by_s);
  y.fixed = force - x->l[i] * x->s[i] * x->e[i] * y.q;
  return y;
}

/* How much force a step of c makes. */
static inline V stiffness(const Side* x, int i, V w2) { return x->l[i] * (w2 * x->s[i] + x->p[i]) * x->e[i]; }

static inline void divide(Side* x, int i, V w2) {
  x->e[i] = 1 / (x->t[i] * (w2 * x->s[i] + x->p[i]) + x->soft[i] * x->l[i] * x->s[i]);
  x->by_tl[i] = 1 / (x->t[i] * x->l[i] + (1 - x->on[i]));
  x->by_sp[i] = 1 / (x->s[i] * x->p[i]);
}

/* The largest of absolute values, or NaN if one is not finite. */
static double norm(const double* x, int64_t count) {
  V most = {0}, bad = {0}, a;
  for (int64_t i = 0; i < count; i += WIDE) {
    if (i + WIDE <= count) memcpy(&a, x + i, sizeof a);
    else
      for (int j = 0; j < WIDE; ++j) a[j] = i + j < count ? x[i + j] : 0;
    most = larger(larger(a, -a), most);
    bad += 0 * a;
  }
  return largest(most) + sum(bad);
}

/* Slacks and forces where the search begins, the same in any unit of a row; returns how many pairs there are. */
static int begin(int n, const Program* q, Stage* stages, double mu) {
  int pairs = 0;
  for (int k = 0; k <= n; ++k) {
    Stage* own = stages + k;
    for (int i = 0; i < NC; ++i) {
      int none = k ? k == n && i < NU : i >= NU && i < NZ && !(FREE && q->free[i - NU]); /* x_0 is given, and the last stage has no u */
      const double* row = i >= NZP && i < NZP + NG ? (const double*) q->G[k * NG + i - NZP] : 0;
      double low = q->lower[k * NC + i], high = q->upper[k * NC + i], c = ((double*) own->c)[i];
      int reached = row && norm(row, NU) > 0;
      double slope = row ? norm(row, NZ) : 1, range = high - low;
      int equation = q->w1[i] >= 0 && !(range > 0); /* which has room in its softness alone */
      double margin = 0.01 * fmin(equation ? 1 : range, slope > 0 && slope < 1 ? slope : 1);
      margin = margin > 1e-8 ? margin : 1e-8;
      for (int side = 0; side < 2; ++side) {
        Side* x = own->side + side;
        double h = side ? high : -low, left = side ? high - c : c - low;
        int on = !none && !(h == INFINITY), soft = on && q->w1[i] >= 0;
        double w1 = q->w1[i], w2 = q->w2[i], t = on ? (left > margin ? left : margin) : 1, l = mu / t, s = 1, p = 1;
        if (soft && !equation && (left > margin || reached)) { /* p s = mu, and p = w1 + w2 s - l */
          p = 0.5 * (w1 - l + sqrt((w1 - l) * (w1 - l) + 4 * w2 * mu)), p = p > 0.01 * w1 ? p : 0.01 * w1 + 1e-12;
          s = mu / p, t = (left > margin ? left : margin) + s;
        } else if (soft) { /* beyond, and out of reach of u; both forces share w1 + w2 s */
          s = equation ? fmax(margin, margin - left) : margin - left, t = left + s, l = p = 0.5 * (w1 + w2 * s);
        }
        ((double*) x->least)[i] = equation ? 1e-11 * w1 * w1 : 0;
        ((double*) x->h)[i] = on ? h : 0, ((double*) x->on)[i] = on, ((double*) x->soft)[i] = soft;
        ((double*) x->t)[i] = t, ((double*) x->l)[i] = on ? l : 0;
        ((double*) x->s)[i] = s, ((double*) x->p)[i] = p;
        pairs += on + soft;
      }
    }
    for (int side = 0; side < 2; ++side) memset(own->side[side].dt, 0, 4 * sizeof own->side[side].dt);
  }
  return pairs;
}

/* Sum of forces times slacks after a part `alpha` of the step, beyond the least ones. */
static double gap(int n, const Stage* stages, double alpha) {
  V y = {0};
  for (int k = 0; k <= n; ++k)
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < CB; ++i) {
        const Side* x = stages[k].side + side;
        y += ((x->l[i] + alpha * x->dl[i]) * (x->t[i] + alpha * x->dt[i]) - x->least[i]) * x->on[i];
        y += ((x->p[i] + alpha * x->dp[i]) * (x->s[i] + alpha * x->ds[i]) - x->least[i]) * x->soft[i];
      }
  return sum(y);
}

/* The step towards products mu; returns the part of it that leaves slacks and forces positive, at most 1, or NaN. */
static double direction(int n, const Program* q, Stage* stages, double mu, int corrected) {
  const V *w1 = (const V*) q->w1, *w2 = (const V*) q->w2;
  for (int k = 0; k <= n; ++k) {
    Stage* own = stages + k;
    for (int i = 0; i < CB; ++i) {
      if (!corrected) {
        for (int side = 0; side < 2; ++side) divide(own->side + side, i, w2[i]);
        own->D[i] = stiffness(own->side, i, w2[i]) + stiffness(own->side + 1, i, w2[i]);
      }
      Newton low = newton(own->side, i, -own->c[i], w1[i], w2[i], mu, corrected);
      Newton high = newton(own->side + 1, i, own->c[i], w1[i], w2[i], mu, corrected);
      own->r[i] = own->side[1].l[i] + high.fixed - own->side[0].l[i] - low.fixed - own->D[i] * own->c[i];
    }
  }
  if (!corrected) factor(n, q, stages);
  solve(n, q, stages);
  V most = every(1e-12), bad = {0};
  for (int k = 0; k <= n; ++k) {
    Stage* own = stages + k;
    V c[CB];
    values(k, q, own->step, c);
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < CB; ++i) {
        Side* x = own->side + side;
        V sign = every(side ? 1 : -1), change = sign * (c[i] - own->c[i]);
        Newton y = newton(x, i, sign * own->c[i], w1[i], w2[i], mu, corrected);
        x->dl[i] = y.fixed + stiffness(x, i, w2[i]) * change;
        x->ds[i] = x->soft[i] * x->s[i] * x->e[i] * (x->l[i] * change + x->t[i] * y.q);
        x->dt[i] = x->on[i] * (x->ds[i] - change + y.by_t);
        x->dp[i] = y.by_s - x->p[i] * x->p[i] * x->by_sp[i] * x->ds[i];
        most = larger(larger(-x->dt[i] * x->l[i], -x->dl[i] * x->t[i]) * x->by_tl[i], most);
        most = larger(larger(-x->ds[i] * x->p[i], -x->dp[i] * x->s[i]) * x->by_sp[i], most);
        bad += 0 * (x->dt[i] + x->dl[i] + x->ds[i] + x->dp[i]); /* also of z, where there is no limit */
      }
  }
  double part = (corrected ? 0.995 : 1) / largest(most);
  return (part < 1 ? part : 1) + sum(bad);
}

/* Minimise from z (n + 1 rows) on. `found` receives the iterations, the mean product of a force and its slack, the part
   of the first violations of limits and dynamics that is left, and the status: 0: solved, 1: at the cap of iterations, or
   of forces, 2: a number was not finite, or a limit is none, and z is the last that was. */
static int stage_qp(int n, const Program* q, Stage* stages, int most, double tolerance, double mu_0, double* z, double* found) {
  int status = 1, iteration = 0;
  double mu = 0, left = 1;
  for (int k = 0; k <= n; ++k) {
    memcpy(stages[k].z, z + k * NZP, sizeof stages[k].z);
    values(k, q, stages[k].z, stages[k].c);
  }
  int pairs = begin(n, q, stages, mu_0);
  for (;; ++iteration) {
    double now = gap(n, stages, 0);
    mu = pairs ? now / pairs : 0;
    if (mu <= tolerance && left <= 1e-8) status = 0;
    if (!status || iteration == most || mu > 1e100) break; /* forces grow for ever where hard limits have no solution */
    double part = direction(n, q, stages, 0, 0);
    double rest = pairs ? gap(n, stages, part) / now : 0;
    if (pairs) part = direction(n, q, stages, mu * rest * rest * rest, 1);
    if (part != part) {
      status = 2;
      break;
    }
    left *= 1 - part;
    for (int k = 0; k <= n; ++k) {
      Stage* own = stages + k;
      for (int c = 0; c < ZB; ++c) own->z[c] += part * (own->step[c] - own->z[c]);
      values(k, q, own->z, own->c);
      for (int side = 0; side < 2; ++side)
        for (int i = 0; i < CB; ++i) {
          Side* x = own->side + side;
          x->t[i] += part * x->dt[i], x->l[i] += part * x->dl[i];
          x->s[i] += part * x->ds[i], x->p[i] += part * x->dp[i];
        }
    }
  }
  for (int k = 0; k <= n; ++k) memcpy(z + k * NZP, stages[k].z, sizeof stages[k].z);
  found[0] = iteration, found[1] = mu, found[2] = left, found[3] = status;
  return status;
}

/* One Gauss-Newton step of an optimal control problem, from the shift of the last plan to the next one.

   A plan has, at n + 1 instants, a state x (STATE numbers, whose steps have NX), inputs u (NU) and unknowns w (ELIMINATED)
   of equations, which are eliminated: w changes by K z + k. Functions of many stages at once write where they are called:

     stage     x, u, w, y   ->  L, K, k, A, b, E, H, g, cost, G, lower, upper, F, S, s, w_s, D
     jump      x, w, x_next ->  y, J, j      where a state jumps behind an interval: its step is J (A z + b) + j
     start     x, x_0       ->  x_0 less x
     retract   x, u, w, z, change -> the next x, u and w

   y is the state at the end of the interval. The equations of w are L change = K z + k, with rows and columns of L in an
   order in which its pivots are on the diagonal and few zeros fill in. What changes with w too: A z + b + E change, the rows
   G z + F change, and the squares w_s (S z + s + D change)^2; E, F and D are sparse. A stage and a jump are those of its
   set. Of H, the squares that change with w are in the upper triangle alone, which is the one that is read. Macros beside
   those of stage_qp.c: STATE, ELIMINATED, SQUARES. */

typedef struct { /* a Function of many stages, and the address and the step, in numbers, of each of its arrays */
  int64_t (*of)(const int64_t* task);
  int64_t arrays;
  const int64_t* array;
} Function;

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
  const Sparse *E, *F, *D; /* by set */
  const int64_t *set, *lands; /* of each stage; the set of the jump after an interval, or -1 */
  const Function *stage, *jump, *start, *retract;
  const Program* program;
  Stage* memory;
  double penalty, first_gap, weight; /* chosen here where they are 0; the last penalty */
  double step, gap, infeasibility, iterations; /* what is found */
} Tick;

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

/* Cut off the first rows; the last one stands for those behind it. */
static void cut(double* rows, int64_t n, int64_t width, int64_t by) {
  int64_t kept = n - by > 1 ? n - by : 1;
  memmove(rows, rows + (n - kept) * width, sizeof(double) * kept * width);
  for (int64_t k = kept; k < n; ++k) memcpy(rows + k * width, rows + (kept - 1) * width, sizeof(double) * width);
}

/* Row p of K z + k less rows `from` ... `to` - 1, each times its entry of `own`, in registers. */
static void subtract(const double* own, int from, int to, Row* K, double* k, const int64_t* order, int64_t p) {
  V y[ZB];
  memcpy(y, K[p], sizeof y);
  for (int q = from; q < to; ++q) {
    if (!own[q]) continue;
    add(-own[q], K[order[q]], y);
    k[p] -= own[q] * k[order[q]];
  }
  memcpy(K[p], y, sizeof y);
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
  product(1, (const double*) weighted, S, SQUARES, H, NZ, 0);
}

/* Shift the plan, and make the quadratic program about it; another number than 0 if a Function fails. */
static int64_t gauss_newton_prepare(Tick* t, int64_t by) {
  int64_t n = t->n, failed = 0;
  if (by) cut(t->x, n + 1, STATE, by), cut(t->u, n, NU, by), cut(t->w, n, ELIMINATED, by);
  memcpy(t->y, t->x + STATE, sizeof(double) * n * STATE);
  memcpy(t->y + n * STATE, t->x + n * STATE, sizeof(double) * STATE);
  for (int64_t k = 0; k < n; ++k)
    if (t->lands[k] >= 0) failed |= evaluate(t->jump + t->lands[k], k, 1);
  for (int64_t k = 0, end; k <= n; k = end) {
    for (end = k + 1; end <= n && end - k < WIDE && t->set[end] == t->set[k];) ++end;
    failed |= evaluate(t->stage + t->set[k], k, end - k);
    for (int64_t i = k; i < end && i < n; ++i) eliminate(t, i); /* while they are in the cache */
  }
  for (int64_t k = 0; k < n; ++k) {
    if (t->lands[k] < 0) continue;
    double A[NX][NZP], b[NX], *to = t->A + k * NX * NZP, *offset = t->b + k * NX;
    const double *J = t->J + k * NX * NX, *j = t->j + k * NX;
    memcpy(A, to, sizeof A), memcpy(b, offset, sizeof b);
    for (int r = 0; r < NX; ++r) {
      offset[r] = j[r];
      memset(to + r * NZP, 0, sizeof A[0]);
      for (int s = 0; s < NX; ++s) {
        offset[r] += J[r * NX + s] * b[s];
        for (int c = 0; c < NZP; ++c) to[r * NZP + c] += J[r * NX + s] * A[s][c];
      }
    }
  }
  return failed;
}

/* What soft limits cost: ten times the steepest cost, and more for rows that move by less than z does, and for equations,
   whose forces are those of whole motions. It follows from tick to tick, up by a quarter and down by a fifth at most, so that one target far away does not spoil it. */
static void weigh(Tick* t) {
  double steepest = norm(t->g, (t->n + 1) * NZP), weight = t->penalty;
  if (weight <= 0) {
    weight = 10 * (steepest > 1e-6 ? steepest : 1e-6);
    if (t->weight > 0) weight = fmin(fmax(weight, 0.8 * t->weight), 1.25 * t->weight);
  }
  if (!(weight < INFINITY)) return;
  t->weight = weight;
  for (int i = 0; i < NC; ++i) {
    double slope = 0, more = 1;
    for (int64_t k = 0; k <= t->n && i >= NZP && i < NZP + NG; ++k)
      slope = fmax(slope, norm(t->G + (k * NG + i - NZP) * NZP, NZ));
    for (int64_t k = 0; k <= t->n && !t->penalty; ++k)
      if (t->lower[k * NC + i] == t->upper[k * NC + i]) more = 10;
    if (t->w1[i] >= 0) t->w1[i] = t->w2[i] = more * weight / (slope > 0 && slope < 1 && !t->penalty ? slope : 1);
  }
}

/* The step from the measured x_0 on: 0: the plan is the next one; 1: a number is not finite, and the plan is the last one;
   2: so it is, because the step is more than `largest` times as large as the plan. */
static int64_t gauss_newton_step(Tick* t, double* delta, int64_t iterations, double largest) {
  int64_t n = t->n;
  double cost = 0, found[4];
  weigh(t);
  if (evaluate(t->start, 0, 1)) return 1;
  for (int64_t k = 0; k <= n; ++k) cost += t->cost[k];
  double kick = norm(delta, NX), first_gap = 1e-2 * cost / n, kicked = 2e-3 * t->weight;
  if (kicked < first_gap) first_gap = kicked; /* of a goal out of reach, the cost is no measure of what can be gained */
  if (kicked * kick > first_gap) first_gap = kicked * fmin(kick, 1); /* far from the plan, start far from limits */
  if (t->first_gap > 0) first_gap = t->first_gap;
  first_gap = first_gap > 1e-9 ? first_gap : 1e-9;
  memcpy(t->x_0, delta, sizeof(double) * NX);
  memset(t->z, 0, sizeof(double) * (n + 1) * NZP);
  stage_qp((int) n, t->program, t->memory, (int) iterations, 1e-6 * first_gap, first_gap, t->z, found);
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
  memcpy(t->x, t->next_x, sizeof(double) * (n + 1) * STATE);
  memcpy(t->u, t->next_u, sizeof(double) * (n + 1) * NU);
  memcpy(t->w, t->next_w, sizeof(double) * (n + 1) * ELIMINATED);
  return 0;
}

/* Both; 3 if a Function fails. */
static int64_t gauss_newton_tick(Tick* t, double* delta, int64_t by, int64_t iterations, double largest) {
  return gauss_newton_prepare(t, by) ? 3 : gauss_newton_step(t, delta, iterations, largest);
}

double tick_x[20][6] __attribute__((aligned(64))) = {
  {0.02, 0.01, 0.0, 0.0, 0.0, 0.0},
  {0.036880639512944194, 0.05777479734991903, -0.056893259382794666, 0.33761279025888385, 0.9554959469983806, -1.1378651876558932},
  {0.08136831497130291, 0.16159476280114038, -0.17786305533270969, 0.5521407189082905, 1.1209033620260462, -1.2815307313424074},
  {0.1440509522478952, 0.26624924023272756, -0.2933702257706132, 0.7015120266235546, 0.9721861866056971, -1.028612677415663},
  {0.21952479579233816, 0.3550806571512516, -0.37358512546223727, 0.8079648442653048, 0.8044421517647837, -0.575685316416819},
  {0.30309234961511977, 0.4262993267639795, -0.40138270295525436, 0.8633862321903277, 0.6199312404897751, 0.019733766556477298},
  {0.3880628107043288, 0.4785086051915678, -0.3644169171944066, 0.8360229895938535, 0.42425432806199065, 0.7195819486604776},
  {0.46411420888363897, 0.5110133712248642, -0.2552614021683444, 0.6850049739923495, 0.22584099260393864, 1.4635283518607667},
  {0.5175623094466874, 0.5240410800040526, -0.07653980802400169, 0.3839570372686189, 0.03471318297982761, 2.1109035310260875},
  {0.5337634097219989, 0.5190548782308305, 0.1431776573424703, -0.05993503176238856, -0.13443721844426937, 2.2834457763033527},
  {0.4999999998990175, 0.49999999933986844, 0.2999999999264019, -0.615333164697239, -0.2466603593749712, 0.8530010753752807},
  {0.4999999998990175, 0.49999999933986844, 0.2999999999264019, -0.615333164697239, -0.2466603593749712, 0.8530010753752807},
  {0.44203906938995935, 0.48637949408145775, 0.3223424613083667, -0.9302916488776455, -0.11655311418264741, -0.2572021051895547},
  {0.37138390564087215, 0.4810906979289707, 0.30125591769282944, -0.9538460510980118, -0.024481449883674594, -0.3051057245581045},
  {0.3098201721382516, 0.4822240323730713, 0.28000474302464706, -0.6878535089718705, 0.054703701726359036, -0.26159226659342477},
  {0.2704887567483685, 0.4892763350439489, 0.2606719206430884, -0.3609842347583453, 0.13335770283037685, -0.2539496635814723},
  {0.25044155108777677, 0.5023626134694987, 0.2438885281061404, -0.17360791619076738, 0.21560972185095095, -0.19360747073714174},
  {0.24170540563564744, 0.5216295213843136, 0.23166634269491343, -0.05935596253268081, 0.2981744892107796, -0.1323174735622438},
  {0.2403877688623877, 0.5506645464917928, 0.224519437290843, 0.02421898191242102, 0.476092846988663, -0.05826667054630097},
  {0.2450459809288979, 0.5971879985768979, 0.22474910986205074, 0.10000000652785083, 0.7645325419474727, 0.06439127244517395}};

double tick_u[20][3] __attribute__((aligned(64))) = {
  {14.253267653054195, 27.273855597962324, -9.923623188503788},
  {9.22158760137848, -21.39465991597453, -1.4726405865040484},
  {5.876036130921178, -39.99999995720631, 2.043828265484729},
  {3.5650634805547714, -39.99999998402219, 3.9823144537214183},
  {1.2267202762705578, -39.99999999006017, 5.290229213826042},
  {-2.0023875475368356, -39.999999992671384, 6.118500217340565},
  {-6.508539786499573, -39.99999999408792, 6.2400329663286165},
  {-11.957105147361652, -39.999999994950166, 4.894925254844349},
  {-17.34246465045344, -39.99999999552115, -0.1061975994924732},
  {-21.51416850533632, -39.999999996004874, -15.592540150602133},
  {-21.662300809699765, -39.999999996714685, -15.746874107311298},
  {-15.700803375748649, -21.9999999945822, -15.93577068319941},
  {-0.8802146333107363, -21.999999992321182, -2.867831501162526},
  {14.330723907095715, -21.99999998653347, -1.8226059303288458},
  {17.526325755599412, -21.99999997305388, -2.22143552049388},
  {10.143680624746569, -21.999999950745444, -1.440527277209326},
  {6.28984048659761, -21.99999982175375, -1.392455930903347},
  {5.058017148426319, -13.577180831845636, -1.080944702723652},
  {5.172609944216309, -3.467666472190136, -0.37273021120303546},
  {5.14734591574122, -3.5113950226739545, -0.38106934169893153}};

double tick_w[20][3] __attribute__((aligned(64))) = {
  {3.376127902588838, 9.554959469983805, -11.378651876558932},
  {2.1452792864940666, 1.6540741502766563, -1.4366554368651412},
  {1.49371307715264, -1.4871717542034912, 2.5291805392674434},
  {1.064528176417502, -1.6774403484091343, 4.52927360998844},
  {0.5542138792502291, -1.845109112750086, 5.954190829732962},
  {-0.2736324259647431, -1.9567691242778447, 6.998481821040003},
  {-1.5101801560150396, -1.9841333545805202, 7.439464032002891},
  {-3.0104793672373056, -1.9112780962411102, 6.473751791653208},
  {-4.438920690310074, -1.6915040142409696, 1.7254224527726505},
  {-5.5539813293485025, -1.1222314093070183, -14.304447009280718},
  {0.0, 0.0, 0.0},
  {-4.199446455738754, 1.7347632692309838, -14.802709074197805},
  {-0.3140586962715508, 1.227622190652971, -0.6387149249139968},
  {3.5465672283485508, 1.055802021467115, 0.5801794395290623},
  {4.358256989513669, 1.0487200147202376, 0.1019013734927001},
  {2.498350914234372, 1.0966935869409884, 0.8045625712577408},
  {1.5233593821078206, 1.1008635647977156, 0.8171999623319725},
  {1.1143325926013576, 2.3722447703717786, 0.9873440402125713},
  {1.0104136615390642, 3.8458625994507956, 1.6354392398863324},
  {0.0, 0.0, 0.0}};

static double own_next_x[20][6] __attribute__((aligned(64)));

static double own_next_u[20][3] __attribute__((aligned(64)));

static double own_next_w[20][3] __attribute__((aligned(64)));

static double own_y[20][6] __attribute__((aligned(64)));

static double own_z[20][16] __attribute__((aligned(64)));

static double own_change[20][3] __attribute__((aligned(64)));

static double own_cost[20][1] __attribute__((aligned(64)));

static double own_J[20][6][6] __attribute__((aligned(64)));

static double own_j[20][6] __attribute__((aligned(64)));

static double own_L[20][3][3] __attribute__((aligned(64)));

static double own_K[20][3][16] __attribute__((aligned(64)));

static double own_k[20][3] __attribute__((aligned(64)));

static double own_S[20][6][16] __attribute__((aligned(64)));

static double own_s[20][6] __attribute__((aligned(64)));

static double own_w_s[20][6] __attribute__((aligned(64)));

double tick_x_0[6] __attribute__((aligned(64))) = {
  0.02, 0.01, 0.0, 0.0, 0.0, 0.0};

static double own_delta[6] __attribute__((aligned(64)));

static double own_A[20][6][16] __attribute__((aligned(64)));

static double own_b[20][6] __attribute__((aligned(64)));

static double own_H[20][9][16] __attribute__((aligned(64)));

static double own_g[20][16] __attribute__((aligned(64)));

static double own_G[20][1][16] __attribute__((aligned(64)));

static double own_lower[20][24] __attribute__((aligned(64)));

static double own_upper[20][24] __attribute__((aligned(64)));

static double own_weights[20][5] __attribute__((aligned(64))) = {
  {0.0, 0.0, 0.0, 0.05, 0.1},
  {0.0, 0.0, 0.0, 0.1, 0.1},
  {0.0, 0.0, 0.0, 0.1, 0.1},
  {0.0, 1.0, 0.0, 0.1, 0.1},
  {0.0, 0.0, 0.0, 0.1, 0.1},
  {0.0, 0.0, 0.0, 0.1, 0.1},
  {0.0, 0.0, 0.0, 0.1, 0.1},
  {0.0, 0.0, 0.0, 0.1, 0.1},
  {0.0, 0.0, 1.0, 0.1, 0.1},
  {0.0, 0.0, 0.0, 0.1, 0.1},
  {1.0, 0.0, 0.0, 0.05, 0.0},
  {0.0, 0.0, 0.0, 0.0375, 0.075},
  {0.0, 0.0, 0.0, 0.075, 0.075},
  {0.0, 0.0, 0.0, 0.075, 0.075},
  {0.0, 1.0, 0.0, 0.075, 0.075},
  {0.0, 0.0, 0.0, 0.075, 0.075},
  {0.0, 0.0, 0.0, 0.075, 0.075},
  {0.0, 0.0, 0.0, 0.075, 0.075},
  {0.0, 0.0, 0.0, 0.075, 0.075},
  {0.0, 0.0, 1.0, 0.0375, 0.0}};

static double own_off[20][5] __attribute__((aligned(64))) = {
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {INFINITY, 0.0, INFINITY, 0.0, 0.0},
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {INFINITY, INFINITY, 0.0, 0.0, 0.0},
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {0.0, INFINITY, INFINITY, 0.0, INFINITY},
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {INFINITY, 0.0, INFINITY, 0.0, 0.0},
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {INFINITY, INFINITY, INFINITY, 0.0, 0.0},
  {INFINITY, INFINITY, 0.0, 0.0, INFINITY}};

static double own_t[20][1] __attribute__((aligned(64))) = {
  {0.0},
  {0.1},
  {0.2},
  {0.30000000000000004},
  {0.4},
  {0.5},
  {0.6000000000000001},
  {0.7000000000000001},
  {0.8},
  {0.9},
  {1.0},
  {0.0},
  {0.075},
  {0.15},
  {0.22499999999999998},
  {0.3},
  {0.375},
  {0.44999999999999996},
  {0.525},
  {0.6}};

double tick_x_end[20][6] __attribute__((aligned(64))) = {
  {0.5, 0.5, 0.3, 0.0, 0.0, 0.0},
  {0.5, 0.5, 0.3, 0.0, 0.0, 0.0},
  {0.5, 0.5, 0.3, 0.0, 0.0, 0.0},
  {0.5, 0.5, 0.3, 0.0, 0.0, 0.0},
  {0.5, 0.5, 0.3, 0.0, 0.0, 0.0},
  {0.5, 0.5, 0.3, 0.0, 0.0, 0.0},
  {0.5, 0.5, 0.3, 0.0, 0.0, 0.0},
  {0.5, 0.5, 0.3, 0.0, 0.0, 0.0},
  {0.5, 0.5, 0.3, 0.0, 0.0, 0.0},
  {0.5, 0.5, 0.3, 0.0, 0.0, 0.0},
  {0.5, 0.5, 0.3, 0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}};

double tick_line[21][3] __attribute__((aligned(64))) = {
  {0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0},
  {0.0, 0.0, 0.0},
  {0.5, 0.5, 0.3},
  {0.4625, 0.4625, 0.2875},
  {0.425, 0.425, 0.275},
  {0.3875, 0.3875, 0.2625},
  {0.35, 0.35, 0.25},
  {0.3125, 0.3125, 0.2375},
  {0.275, 0.275, 0.225},
  {0.2375, 0.2375, 0.21250000000000002},
  {0.2, 0.2, 0.2},
  {0.2, 0.2, 0.2}};

static double own_E[20][6] __attribute__((aligned(64)));

static double own_F[1] __attribute__((aligned(64)));

static double own_D[20][6] __attribute__((aligned(64)));

static double own_qp_x_0[6] __attribute__((aligned(64)));

static double own_free[6] __attribute__((aligned(64)));

static double own_w1[24] __attribute__((aligned(64))) = {
  -1.0, -1.0, -1.0, 1077.9383080393964, 1077.9383080393964, 1077.9383080393964,
  107.79383080393963, 107.79383080393963, 107.79383080393963, -1.0, -1.0, -1.0,
  -1.0, -1.0, -1.0, -1.0, 107.79383080393963, 107.79383080393963,
  107.79383080393963, 107.79383080393963, 107.79383080393963, 107.79383080393963, 107.79383080393963, 107.79383080393963};

static double own_w2[24] __attribute__((aligned(64))) = {
  0.0, 0.0, 0.0, 1077.9383080393964, 1077.9383080393964, 1077.9383080393964,
  107.79383080393963, 107.79383080393963, 107.79383080393963, 0.0, 0.0, 0.0,
  0.0, 0.0, 0.0, 0.0, 107.79383080393963, 107.79383080393963,
  107.79383080393963, 107.79383080393963, 107.79383080393963, 107.79383080393963, 107.79383080393963, 107.79383080393963};

static int64_t own_set[20] __attribute__((aligned(64))) = {
  0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 2, 1,
  1, 1, 1, 1, 1, 1,
  1, 1};

static int64_t own_lands[19] __attribute__((aligned(64))) = {
  -1, -1, -1, -1, -1, -1,
  -1, -1, -1, -1, -1, -1,
  -1, -1, -1, -1, -1, -1,
  -1};

static int64_t own_order[3] __attribute__((aligned(64))) = {
  2, 1, 0};

static Function of_stage[3];
#undef CASADI_PREFIX
/* How to prefix internal symbols */
#ifdef CASADI_CODEGEN_PREFIX
  #define CASADI_NAMESPACE_CONCAT(NS, ID) _CASADI_NAMESPACE_CONCAT(NS, ID)
  #define _CASADI_NAMESPACE_CONCAT(NS, ID) NS ## ID
  #define CASADI_PREFIX(ID) CASADI_NAMESPACE_CONCAT(CODEGEN_PREFIX, ID)
#else
  #define CASADI_PREFIX(ID) tick_stage_0_ ## ID
#endif

#include <math.h>

#ifndef casadi_real
#define casadi_real double
#endif

#ifndef casadi_int
#define casadi_int long long int
#endif

/* Add prefix to internal symbols */
#define casadi_f0 CASADI_PREFIX(f0)
#define casadi_s0 CASADI_PREFIX(s0)
#define casadi_s1 CASADI_PREFIX(s1)
#define casadi_s10 CASADI_PREFIX(s10)
#define casadi_s2 CASADI_PREFIX(s2)
#define casadi_s3 CASADI_PREFIX(s3)
#define casadi_s4 CASADI_PREFIX(s4)
#define casadi_s5 CASADI_PREFIX(s5)
#define casadi_s6 CASADI_PREFIX(s6)
#define casadi_s7 CASADI_PREFIX(s7)
#define casadi_s8 CASADI_PREFIX(s8)
#define casadi_s9 CASADI_PREFIX(s9)
#define casadi_sq CASADI_PREFIX(sq)

/* Symbol visibility in DLLs */
#ifndef CASADI_SYMBOL_EXPORT
  #if defined(_WIN32) || defined(__WIN32__) || defined(__CYGWIN__)
    #if defined(STATIC_LINKED)
      #define CASADI_SYMBOL_EXPORT
    #else
      #define CASADI_SYMBOL_EXPORT __declspec(dllexport)
    #endif
  #elif defined(__GNUC__) && defined(GCC_HASCLASSVISIBILITY)
    #define CASADI_SYMBOL_EXPORT __attribute__ ((visibility ("default")))
  #else
    #define CASADI_SYMBOL_EXPORT
  #endif
#endif

casadi_real casadi_sq(casadi_real x) { return x*x;}

#ifndef casadi_inf
  #define casadi_inf INFINITY
#endif

/* Configuration this file was compiled with */
CASADI_SYMBOL_EXPORT void tick_stage_0_casadi_version(int* major, int* minor, int* patch) {
  *major = 3;
  *minor = 8;
  *patch = 2;
}
CASADI_SYMBOL_EXPORT int tick_stage_0_casadi_int_size(void) { return (int) sizeof(casadi_int); }
CASADI_SYMBOL_EXPORT int tick_stage_0_casadi_real_size(void) { return (int) sizeof(casadi_real); }

static const casadi_int casadi_s0[3] = {6, 1, 1};
static const casadi_int casadi_s1[3] = {3, 1, 1};
static const casadi_int casadi_s2[3] = {1, 1, 1};
static const casadi_int casadi_s3[3] = {5, 1, 1};
static const casadi_int casadi_s4[3] = {0, 1, 1};
static const casadi_int casadi_s5[3] = {9, 1, 1};
static const casadi_int casadi_s6[3] = {48, 1, 1};
static const casadi_int casadi_s7[3] = {96, 1, 1};
static const casadi_int casadi_s8[3] = {144, 1, 1};
static const casadi_int casadi_s9[3] = {16, 1, 1};
static const casadi_int casadi_s10[3] = {24, 1, 1};

/* tick_stage_0_of_one:(i0[6],i1[3],i2[3],i3,i4[5],i5[5],i6[6],i7[0],i8[0],i9[3],i10[3],i11[6])->(o0[9],o1[48],o2[3],o3[96],o4[6],o5[144],o6[16],o7,o8[16],o9[24],o10[24],o11[96],o12[6],o13[6],o14[6],o15[3]) */
static int casadi_f0(const casadi_real** arg, casadi_real** res, casadi_int* iw, casadi_real* w, int mem) {
  casadi_real a00, a01, a02, a03, a04, a05, a06, a07, a08, a09, a10, a11;
  casadi_real a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23;
  casadi_real a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35;
  casadi_real a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47;
  casadi_real a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59;
  casadi_real a60, a61, a62, a63, a64, a65, a66, a67, a68, a69, a70, a71;
  casadi_real a72, a73;
  a00=1.6249999999999987e-02;
  a01=arg[0]? arg[0][2] : 0;
  a02=5.0000000000000003e-02;
  a03=arg[0]? arg[0][5] : 0;
  a04=arg[2]? arg[2][2] : 0;
  a05=(a02*a04);
  a05=(a03+a05);
  a06=(a02*a05);
  a06=(a01+a06);
  a07=sin(a06);
  a08=7.7020000000000005e-02;
  a09=(a08*a07);
  a10=(a07*a09);
  a11=(a00+a10);
  a12=9.3269999999999992e-02;
  a10=(a12-a10);
  a13=(a11+a10);
  a14=8.2999999999999996e-01;
  a15=(a13+a14);
  a16=2.5000000000000005e-03;
  a17=arg[0]? arg[0][1] : 0;
  a18=arg[0]? arg[0][4] : 0;
  a19=arg[2]? arg[2][1] : 0;
  a20=(a02*a19);
  a20=(a18+a20);
  a21=(a02*a20);
  a21=(a17+a21);
  a22=sin(a21);
  a06=cos(a06);
  a23=(a22*a06);
  a21=cos(a21);
  a24=(a07*a21);
  a23=(a23+a24);
  a24=(a08*a23);
  a25=(a23*a24);
  a26=(a06*a21);
  a27=(a07*a22);
  a26=(a26-a27);
  a08=(a08*a26);
  a27=(a26*a08);
  a27=(a25-a27);
  a28=arg[0]? arg[0][3] : 0;
  a29=arg[2]? arg[2][0] : 0;
  a30=(a02*a29);
  a30=(a28+a30);
  a31=casadi_sq(a30);
  a32=(a27*a31);
  a33=1.4508480000000001e-01;
  a34=(a33*a23);
  a35=casadi_sq(a20);
  a36=(a31+a35);
  a37=(a21*a36);
  a38=(a19*a22);
  a37=(a37+a38);
  a39=3.7769800833719314e-01;
  a40=(a39*a29);
  a37=(a37+a40);
  a40=(a34*a37);
  a41=(a33*a26);
  a42=(a19*a21);
  a43=(a22*a35);
  a43=(a42-a43);
  a44=2.2718851320055581e+01;
  a43=(a43-a44);
  a45=(a41*a43);
  a46=(a40+a45);
  a46=(a32+a46);
  a16=(a16*a46);
  a15=(a15+a16);
  if (res[0]!=0) res[0][0]=a15;
  a15=(a33*a07);
  a13=(a13+a15);
  a36=(a22*a36);
  a42=(a42-a36);
  a42=(a41*a42);
  a40=(a40-a42);
  a42=(a21*a35);
  a38=(a38+a42);
  a38=(a34*a38);
  a38=(a38-a45);
  a40=(a40-a38);
  a32=(a32+a40);
  a40=(a02*a32);
  a38=(2.*a20);
  a45=(a21*a38);
  a45=(a41*a45);
  a42=(a22*a38);
  a36=(a34*a42);
  a45=(a45+a36);
  a40=(a40-a45);
  a36=(a02*a40);
  a36=(a13+a36);
  if (res[0]!=0) res[0][1]=a36;
  a36=5.4798240000000005e-02;
  a16=(a36*a06);
  a47=(a21*a16);
  a36=(a36*a07);
  a07=(a22*a36);
  a47=(a47-a07);
  a24=(a24*a26);
  a26=(2.*a30);
  a07=(a24*a26);
  a48=(a21*a26);
  a48=(a41*a48);
  a48=(a07+a48);
  a49=(a02*a48);
  a49=(a47+a49);
  a49=(-a49);
  if (res[0]!=0) res[0][2]=a49;
  a49=(a05+a20);
  a50=(2.*a49);
  a51=(a41*a50);
  a51=(a21*a51);
  a52=(a34*a50);
  a53=(a22*a52);
  a53=(a51+a53);
  a54=casadi_sq(a49);
  a55=(a34*a54);
  a56=(a19+a04);
  a57=(a41*a56);
  a55=(a55-a57);
  a55=(a21*a55);
  a58=(a31+a54);
  a59=(a41*a58);
  a60=(a34*a56);
  a59=(a59+a60);
  a61=(a22*a59);
  a62=(a55-a61);
  a62=(a46-a62);
  a63=(a02*a62);
  a63=(a53+a63);
  a64=(a02*a63);
  a13=(a13+a64);
  if (res[0]!=0) res[0][3]=a13;
  a13=1.4419235520000000e+00;
  a11=(a11+a15);
  a15=(a15+a11);
  a15=(a13+a15);
  a11=7.3126400000000008e-02;
  a10=(a10+a11);
  a64=(a15-a10);
  a64=(a22*a64);
  a65=7.0992000000000000e-03;
  a09=(a09*a06);
  a33=(a33*a06);
  a09=(a09+a33);
  a09=(a65-a09);
  a09=(2.*a09);
  a09=(a21*a09);
  a64=(a64+a09);
  a64=(a22*a64);
  a15=(a15-a64);
  a10=(a10+a64);
  a10=(a15+a10);
  a64=4.7100000000000000e+00;
  a10=(a10+a64);
  a53=(a53-a45);
  a45=1.3687971520000000e+00;
  a09=(a45*a21);
  a33=1.4198400000000000e-02;
  a06=(a33*a22);
  a09=(a09-a06);
  a06=(a21*a09);
  a45=(a45*a22);
  a33=(a33*a21);
  a45=(a45+a33);
  a33=(a22*a45);
  a06=(a06-a33);
  a66=(a31*a06);
  a67=6.0720485759999998e-01;
  a68=(a67*a21);
  a69=2.3750999999999998e-02;
  a70=(a69*a22);
  a68=(a68-a70);
  a70=(a29*a68);
  a66=(a66+a70);
  a70=1.4058717120000002e+00;
  a71=(a70*a22);
  a72=4.5079919999999996e-02;
  a73=(a72*a21);
  a71=(a71+a73);
  a71=(a44*a71);
  a66=(a66+a71);
  a58=(a34*a58);
  a57=(a57-a58);
  a58=(a21*a57);
  a58=(a58-a61);
  a54=(a41*a54);
  a60=(a60+a54);
  a54=(a22*a60);
  a55=(a55+a54);
  a58=(a58+a55);
  a58=(a32-a58);
  a66=(a66+a58);
  a58=(a02*a66);
  a53=(a53+a58);
  a58=(a02*a53);
  a10=(a10+a58);
  if (res[0]!=0) res[0][4]=a10;
  a36=(a36+a67);
  a36=(a22*a36);
  a16=(a69-a16);
  a16=(a21*a16);
  a36=(a36+a16);
  a45=(a21*a45);
  a65=(a45-a65);
  a16=(a26*a65);
  a10=(a34*a26);
  a58=(a22*a10);
  a58=(a58-a48);
  a58=(a16+a58);
  a55=(a02*a58);
  a55=(a36+a55);
  if (res[0]!=0) res[0][5]=a55;
  a52=(a39*a52);
  a55=(a41*a26);
  a55=(a21*a55);
  a52=(a52+a55);
  a55=(a07+a52);
  a49=(a30*a49);
  a49=(2.*a49);
  a27=(a27*a49);
  a23=(a23*a08);
  a23=(a24+a23);
  a23=(a29*a23);
  a27=(a27-a23);
  a23=(a29*a21);
  a08=(a20*a30);
  a08=(2.*a08);
  a54=(a22*a08);
  a23=(a23-a54);
  a54=(a39*a31);
  a23=(a23-a54);
  a54=(a41*a23);
  a61=(a27-a54);
  a59=(a39*a59);
  a71=(a34*a49);
  a73=(a29*a41);
  a71=(a71-a73);
  a71=(a21*a71);
  a73=(a59-a71);
  a61=(a61-a73);
  a73=(a02*a61);
  a55=(a55-a73);
  a73=(a02*a55);
  a73=(a73-a47);
  if (res[0]!=0) res[0][6]=a73;
  a73=(a38*a68);
  a16=(a16-a73);
  a26=(a22*a26);
  a26=(a34*a26);
  a26=(a26-a07);
  a26=(a26-a52);
  a16=(a16+a26);
  a06=(a08*a06);
  a26=(a19*a68);
  a67=(a67*a22);
  a69=(a69*a21);
  a67=(a67+a69);
  a69=(a35*a67);
  a26=(a26-a69);
  a09=(a22*a09);
  a45=(a45+a09);
  a45=(a29*a45);
  a26=(a26-a45);
  a06=(a06-a26);
  a26=(a29*a22);
  a45=(a21*a08);
  a26=(a26+a45);
  a26=(a34*a26);
  a26=(a26-a54);
  a27=(a27+a26);
  a26=(a29*a34);
  a54=(a41*a49);
  a26=(a26+a54);
  a54=(a22*a26);
  a71=(a71+a54);
  a59=(a59-a71);
  a27=(a27-a59);
  a06=(a06+a27);
  a27=(a02*a06);
  a16=(a16+a27);
  a27=(a02*a16);
  a36=(a36-a27);
  if (res[0]!=0) res[0][7]=a36;
  a36=1.7499999999999999e-01;
  a15=(a15+a36);
  a27=1.2569808208800000e+00;
  a15=(a15+a27);
  a59=1.1399999999999999e+00;
  a15=(a15+a59);
  a38=(a38*a65);
  a71=7.5539601667438627e-01;
  a71=(a71*a30);
  a42=(a42+a71);
  a42=(a34*a42);
  a50=(a50*a24);
  a42=(a42-a50);
  a10=(a39*a10);
  a51=(a51+a10);
  a42=(a42-a51);
  a38=(a38+a42);
  a42=(a02*a38);
  a15=(a15-a42);
  if (res[0]!=0) res[0][8]=a15;
  a15=1.;
  if (res[1]!=0) res[1][0]=a15;
  a42=0.;
  if (res[1]!=0) res[1][1]=a42;
  if (res[1]!=0) res[1][2]=a42;
  if (res[1]!=0) res[1][3]=a42;
  if (res[1]!=0) res[1][4]=a06;
  if (res[1]!=0) res[1][5]=a61;
  if (res[1]!=0) res[1][6]=a38;
  if (res[1]!=0) res[1][7]=a16;
  a55=(-a55);
  if (res[1]!=0) res[1][8]=a55;
  if (res[1]!=0) res[1][9]=a42;
  if (res[1]!=0) res[1][10]=a42;
  if (res[1]!=0) res[1][11]=a42;
  if (res[1]!=0) res[1][12]=a42;
  if (res[1]!=0) res[1][13]=a42;
  if (res[1]!=0) res[1][14]=a42;
  if (res[1]!=0) res[1][15]=a42;
  if (res[1]!=0) res[1][16]=a42;
  if (res[1]!=0) res[1][17]=a15;
  if (res[1]!=0) res[1][18]=a42;
  if (res[1]!=0) res[1][19]=a42;
  a66=(-a66);
  if (res[1]!=0) res[1][20]=a66;
  a62=(-a62);
  if (res[1]!=0) res[1][21]=a62;
  a58=(-a58);
  if (res[1]!=0) res[1][22]=a58;
  a53=(-a53);
  if (res[1]!=0) res[1][23]=a53;
  a63=(-a63);
  if (res[1]!=0) res[1][24]=a63;
  if (res[1]!=0) res[1][25]=a42;
  if (res[1]!=0) res[1][26]=a42;
  if (res[1]!=0) res[1][27]=a42;
  if (res[1]!=0) res[1][28]=a42;
  if (res[1]!=0) res[1][29]=a42;
  if (res[1]!=0) res[1][30]=a42;
  if (res[1]!=0) res[1][31]=a42;
  if (res[1]!=0) res[1][32]=a42;
  if (res[1]!=0) res[1][33]=a42;
  if (res[1]!=0) res[1][34]=a15;
  if (res[1]!=0) res[1][35]=a42;
  a32=(-a32);
  if (res[1]!=0) res[1][36]=a32;
  a32=(-a46);
  if (res[1]!=0) res[1][37]=a32;
  if (res[1]!=0) res[1][38]=a48;
  a40=(-a40);
  if (res[1]!=0) res[1][39]=a40;
  a02=(a02*a46);
  a02=(-a02);
  if (res[1]!=0) res[1][40]=a02;
  if (res[1]!=0) res[1][41]=a42;
  if (res[1]!=0) res[1][42]=a42;
  if (res[1]!=0) res[1][43]=a42;
  if (res[1]!=0) res[1][44]=a42;
  if (res[1]!=0) res[1][45]=a42;
  if (res[1]!=0) res[1][46]=a42;
  if (res[1]!=0) res[1][47]=a42;
  a36=(a36*a29);
  a27=(a27*a29);
  a36=(a36+a27);
  a08=(a08*a65);
  a35=(a35*a68);
  a68=(a19*a67);
  a35=(a35+a68);
  a13=(a13-a33);
  a68=(a29*a13);
  a35=(a35+a68);
  a08=(a08-a35);
  a49=(a24*a49);
  a00=(a00+a25);
  a35=(a29*a00);
  a49=(a49+a35);
  a23=(a34*a23);
  a49=(a49+a23);
  a26=(a21*a26);
  a39=(a39*a57);
  a26=(a26-a39);
  a49=(a49+a26);
  a08=(a08-a49);
  a36=(a36-a08);
  a59=(a59*a29);
  a36=(a36+a59);
  a59=arg[1]? arg[1][0] : 0;
  a36=(a36-a59);
  a36=(-a36);
  if (res[2]!=0) res[2][0]=a36;
  a65=(a31*a65);
  a13=(a19*a13);
  a65=(a65+a13);
  a11=(a11+a33);
  a11=(a19*a11);
  a65=(a65+a11);
  a67=(a29*a67);
  a65=(a65+a67);
  a70=(a70*a21);
  a72=(a72*a22);
  a70=(a70-a72);
  a44=(a44*a70);
  a65=(a65-a44);
  a00=(a56*a00);
  a31=(a31*a24);
  a00=(a00-a31);
  a12=(a12-a25);
  a56=(a56*a12);
  a00=(a00+a56);
  a34=(a34*a43);
  a37=(a37*a41);
  a34=(a34-a37);
  a00=(a00+a34);
  a22=(a22*a57);
  a21=(a21*a60);
  a22=(a22-a21);
  a22=(a00-a22);
  a65=(a65+a22);
  a64=(a64*a19);
  a65=(a65+a64);
  a64=arg[1]? arg[1][1] : 0;
  a65=(a65-a64);
  a65=(-a65);
  if (res[2]!=0) res[2][1]=a65;
  a14=(a14*a04);
  a00=(a00+a14);
  a14=arg[1]? arg[1][2] : 0;
  a00=(a00-a14);
  a00=(-a00);
  if (res[2]!=0) res[2][2]=a00;
  if (res[3]!=0) res[3][0]=a42;
  if (res[3]!=0) res[3][1]=a42;
  if (res[3]!=0) res[3][2]=a42;
  if (res[3]!=0) res[3][3]=a15;
  if (res[3]!=0) res[3][4]=a42;
  if (res[3]!=0) res[3][5]=a42;
  a00=1.0000000000000001e-01;
  if (res[3]!=0) res[3][6]=a00;
  if (res[3]!=0) res[3][7]=a42;
  if (res[3]!=0) res[3][8]=a42;
  if (res[3]!=0) res[3][9]=a42;
  if (res[3]!=0) res[3][10]=a42;
  if (res[3]!=0) res[3][11]=a42;
  if (res[3]!=0) res[3][12]=a42;
  if (res[3]!=0) res[3][13]=a42;
  if (res[3]!=0) res[3][14]=a42;
  if (res[3]!=0) res[3][15]=a42;
  if (res[3]!=0) res[3][16]=a42;
  if (res[3]!=0) res[3][17]=a42;
  if (res[3]!=0) res[3][18]=a42;
  if (res[3]!=0) res[3][19]=a42;
  if (res[3]!=0) res[3][20]=a15;
  if (res[3]!=0) res[3][21]=a42;
  if (res[3]!=0) res[3][22]=a42;
  if (res[3]!=0) res[3][23]=a00;
  if (res[3]!=0) res[3][24]=a42;
  if (res[3]!=0) res[3][25]=a42;
  if (res[3]!=0) res[3][26]=a42;
  if (res[3]!=0) res[3][27]=a42;
  if (res[3]!=0) res[3][28]=a42;
  if (res[3]!=0) res[3][29]=a42;
  if (res[3]!=0) res[3][30]=a42;
  if (res[3]!=0) res[3][31]=a42;
  if (res[3]!=0) res[3][32]=a42;
  if (res[3]!=0) res[3][33]=a42;
  if (res[3]!=0) res[3][34]=a42;
  if (res[3]!=0) res[3][35]=a42;
  if (res[3]!=0) res[3][36]=a42;
  if (res[3]!=0) res[3][37]=a15;
  if (res[3]!=0) res[3][38]=a42;
  if (res[3]!=0) res[3][39]=a42;
  if (res[3]!=0) res[3][40]=a00;
  if (res[3]!=0) res[3][41]=a42;
  if (res[3]!=0) res[3][42]=a42;
  if (res[3]!=0) res[3][43]=a42;
  if (res[3]!=0) res[3][44]=a42;
  if (res[3]!=0) res[3][45]=a42;
  if (res[3]!=0) res[3][46]=a42;
  if (res[3]!=0) res[3][47]=a42;
  if (res[3]!=0) res[3][48]=a42;
  if (res[3]!=0) res[3][49]=a42;
  if (res[3]!=0) res[3][50]=a42;
  if (res[3]!=0) res[3][51]=a42;
  if (res[3]!=0) res[3][52]=a42;
  if (res[3]!=0) res[3][53]=a42;
  if (res[3]!=0) res[3][54]=a15;
  if (res[3]!=0) res[3][55]=a42;
  if (res[3]!=0) res[3][56]=a42;
  if (res[3]!=0) res[3][57]=a42;
  if (res[3]!=0) res[3][58]=a42;
  if (res[3]!=0) res[3][59]=a42;
  if (res[3]!=0) res[3][60]=a42;
  if (res[3]!=0) res[3][61]=a42;
  if (res[3]!=0) res[3][62]=a42;
  if (res[3]!=0) res[3][63]=a42;
  if (res[3]!=0) res[3][64]=a42;
  if (res[3]!=0) res[3][65]=a42;
  if (res[3]!=0) res[3][66]=a42;
  if (res[3]!=0) res[3][67]=a42;
  if (res[3]!=0) res[3][68]=a42;
  if (res[3]!=0) res[3][69]=a42;
  if (res[3]!=0) res[3][70]=a42;
  if (res[3]!=0) res[3][71]=a15;
  if (res[3]!=0) res[3][72]=a42;
  if (res[3]!=0) res[3][73]=a42;
  if (res[3]!=0) res[3][74]=a42;
  if (res[3]!=0) res[3][75]=a42;
  if (res[3]!=0) res[3][76]=a42;
  if (res[3]!=0) res[3][77]=a42;
  if (res[3]!=0) res[3][78]=a42;
  if (res[3]!=0) res[3][79]=a42;
  if (res[3]!=0) res[3][80]=a42;
  if (res[3]!=0) res[3][81]=a42;
  if (res[3]!=0) res[3][82]=a42;
  if (res[3]!=0) res[3][83]=a42;
  if (res[3]!=0) res[3][84]=a42;
  if (res[3]!=0) res[3][85]=a42;
  if (res[3]!=0) res[3][86]=a42;
  if (res[3]!=0) res[3][87]=a42;
  if (res[3]!=0) res[3][88]=a15;
  if (res[3]!=0) res[3][89]=a42;
  if (res[3]!=0) res[3][90]=a42;
  if (res[3]!=0) res[3][91]=a42;
  if (res[3]!=0) res[3][92]=a42;
  if (res[3]!=0) res[3][93]=a42;
  if (res[3]!=0) res[3][94]=a42;
  if (res[3]!=0) res[3][95]=a42;
  a65=arg[0]? arg[0][0] : 0;
  a22=(a00*a30);
  a22=(a65+a22);
  a21=arg[11]? arg[11][0] : 0;
  a22=(a22-a21);
  if (res[4]!=0) res[4][0]=a22;
  a22=(a00*a20);
  a22=(a17+a22);
  a21=arg[11]? arg[11][1] : 0;
  a22=(a22-a21);
  if (res[4]!=0) res[4][1]=a22;
  a22=(a00*a05);
  a22=(a01+a22);
  a21=arg[11]? arg[11][2] : 0;
  a22=(a22-a21);
  if (res[4]!=0) res[4][2]=a22;
  a29=(a00*a29);
  a29=(a28+a29);
  a22=arg[11]? arg[11][3] : 0;
  a29=(a29-a22);
  if (res[4]!=0) res[4][3]=a29;
  a19=(a00*a19);
  a19=(a18+a19);
  a29=arg[11]? arg[11][4] : 0;
  a19=(a19-a29);
  if (res[4]!=0) res[4][4]=a19;
  a04=(a00*a04);
  a04=(a03+a04);
  a19=arg[11]? arg[11][5] : 0;
  a04=(a04-a19);
  if (res[4]!=0) res[4][5]=a04;
  a04=1.9999999999999996e-03;
  a19=arg[4]? arg[4][4] : 0;
  a04=(a04*a19);
  if (res[5]!=0) res[5][0]=a04;
  if (res[5]!=0) res[5][1]=a42;
  if (res[5]!=0) res[5][2]=a42;
  if (res[5]!=0) res[5][3]=a42;
  if (res[5]!=0) res[5][4]=a42;
  if (res[5]!=0) res[5][5]=a42;
  if (res[5]!=0) res[5][6]=a42;
  if (res[5]!=0) res[5][7]=a42;
  if (res[5]!=0) res[5][8]=a42;
  if (res[5]!=0) res[5][9]=a42;
  if (res[5]!=0) res[5][10]=a42;
  if (res[5]!=0) res[5][11]=a42;
  if (res[5]!=0) res[5][12]=a42;
  if (res[5]!=0) res[5][13]=a42;
  if (res[5]!=0) res[5][14]=a42;
  if (res[5]!=0) res[5][15]=a42;
  if (res[5]!=0) res[5][16]=a42;
  if (res[5]!=0) res[5][17]=a04;
  if (res[5]!=0) res[5][18]=a42;
  if (res[5]!=0) res[5][19]=a42;
  if (res[5]!=0) res[5][20]=a42;
  if (res[5]!=0) res[5][21]=a42;
  if (res[5]!=0) res[5][22]=a42;
  if (res[5]!=0) res[5][23]=a42;
  if (res[5]!=0) res[5][24]=a42;
  if (res[5]!=0) res[5][25]=a42;
  if (res[5]!=0) res[5][26]=a42;
  if (res[5]!=0) res[5][27]=a42;
  if (res[5]!=0) res[5][28]=a42;
  if (res[5]!=0) res[5][29]=a42;
  if (res[5]!=0) res[5][30]=a42;
  if (res[5]!=0) res[5][31]=a42;
  if (res[5]!=0) res[5][32]=a42;
  if (res[5]!=0) res[5][33]=a42;
  if (res[5]!=0) res[5][34]=a04;
  if (res[5]!=0) res[5][35]=a42;
  if (res[5]!=0) res[5][36]=a42;
  if (res[5]!=0) res[5][37]=a42;
  if (res[5]!=0) res[5][38]=a42;
  if (res[5]!=0) res[5][39]=a42;
  if (res[5]!=0) res[5][40]=a42;
  if (res[5]!=0) res[5][41]=a42;
  if (res[5]!=0) res[5][42]=a42;
  if (res[5]!=0) res[5][43]=a42;
  if (res[5]!=0) res[5][44]=a42;
  if (res[5]!=0) res[5][45]=a42;
  if (res[5]!=0) res[5][46]=a42;
  if (res[5]!=0) res[5][47]=a42;
  if (res[5]!=0) res[5][48]=a42;
  if (res[5]!=0) res[5][49]=a42;
  if (res[5]!=0) res[5][50]=a42;
  if (res[5]!=0) res[5][51]=a42;
  if (res[5]!=0) res[5][52]=a42;
  if (res[5]!=0) res[5][53]=a42;
  if (res[5]!=0) res[5][54]=a42;
  if (res[5]!=0) res[5][55]=a42;
  if (res[5]!=0) res[5][56]=a42;
  if (res[5]!=0) res[5][57]=a42;
  if (res[5]!=0) res[5][58]=a42;
  if (res[5]!=0) res[5][59]=a42;
  if (res[5]!=0) res[5][60]=a42;
  if (res[5]!=0) res[5][61]=a42;
  if (res[5]!=0) res[5][62]=a42;
  if (res[5]!=0) res[5][63]=a42;
  if (res[5]!=0) res[5][64]=a42;
  if (res[5]!=0) res[5][65]=a42;
  if (res[5]!=0) res[5][66]=a42;
  if (res[5]!=0) res[5][67]=a42;
  if (res[5]!=0) res[5][68]=a42;
  if (res[5]!=0) res[5][69]=a42;
  if (res[5]!=0) res[5][70]=a42;
  if (res[5]!=0) res[5][71]=a42;
  if (res[5]!=0) res[5][72]=a42;
  if (res[5]!=0) res[5][73]=a42;
  if (res[5]!=0) res[5][74]=a42;
  if (res[5]!=0) res[5][75]=a42;
  if (res[5]!=0) res[5][76]=a42;
  if (res[5]!=0) res[5][77]=a42;
  if (res[5]!=0) res[5][78]=a42;
  if (res[5]!=0) res[5][79]=a42;
  if (res[5]!=0) res[5][80]=a42;
  if (res[5]!=0) res[5][81]=a42;
  if (res[5]!=0) res[5][82]=a42;
  if (res[5]!=0) res[5][83]=a42;
  if (res[5]!=0) res[5][84]=a42;
  if (res[5]!=0) res[5][85]=a42;
  if (res[5]!=0) res[5][86]=a42;
  if (res[5]!=0) res[5][87]=a42;
  if (res[5]!=0) res[5][88]=a42;
  if (res[5]!=0) res[5][89]=a42;
  if (res[5]!=0) res[5][90]=a42;
  if (res[5]!=0) res[5][91]=a42;
  if (res[5]!=0) res[5][92]=a42;
  if (res[5]!=0) res[5][93]=a42;
  if (res[5]!=0) res[5][94]=a42;
  if (res[5]!=0) res[5][95]=a42;
  if (res[5]!=0) res[5][96]=a42;
  if (res[5]!=0) res[5][97]=a42;
  if (res[5]!=0) res[5][98]=a42;
  if (res[5]!=0) res[5][99]=a42;
  if (res[5]!=0) res[5][100]=a42;
  if (res[5]!=0) res[5][101]=a42;
  a04=6.6666666666666666e-02;
  a29=arg[4]? arg[4][3] : 0;
  a04=(a04*a29);
  if (res[5]!=0) res[5][102]=a04;
  if (res[5]!=0) res[5][103]=a42;
  if (res[5]!=0) res[5][104]=a42;
  if (res[5]!=0) res[5][105]=a42;
  if (res[5]!=0) res[5][106]=a42;
  if (res[5]!=0) res[5][107]=a42;
  if (res[5]!=0) res[5][108]=a42;
  if (res[5]!=0) res[5][109]=a42;
  if (res[5]!=0) res[5][110]=a42;
  if (res[5]!=0) res[5][111]=a42;
  if (res[5]!=0) res[5][112]=a42;
  if (res[5]!=0) res[5][113]=a42;
  if (res[5]!=0) res[5][114]=a42;
  if (res[5]!=0) res[5][115]=a42;
  if (res[5]!=0) res[5][116]=a42;
  if (res[5]!=0) res[5][117]=a42;
  if (res[5]!=0) res[5][118]=a42;
  if (res[5]!=0) res[5][119]=a04;
  if (res[5]!=0) res[5][120]=a42;
  if (res[5]!=0) res[5][121]=a42;
  if (res[5]!=0) res[5][122]=a42;
  if (res[5]!=0) res[5][123]=a42;
  if (res[5]!=0) res[5][124]=a42;
  if (res[5]!=0) res[5][125]=a42;
  if (res[5]!=0) res[5][126]=a42;
  if (res[5]!=0) res[5][127]=a42;
  if (res[5]!=0) res[5][128]=a42;
  if (res[5]!=0) res[5][129]=a42;
  if (res[5]!=0) res[5][130]=a42;
  if (res[5]!=0) res[5][131]=a42;
  if (res[5]!=0) res[5][132]=a42;
  if (res[5]!=0) res[5][133]=a42;
  if (res[5]!=0) res[5][134]=a42;
  if (res[5]!=0) res[5][135]=a42;
  if (res[5]!=0) res[5][136]=a04;
  if (res[5]!=0) res[5][137]=a42;
  if (res[5]!=0) res[5][138]=a42;
  if (res[5]!=0) res[5][139]=a42;
  if (res[5]!=0) res[5][140]=a42;
  if (res[5]!=0) res[5][141]=a42;
  if (res[5]!=0) res[5][142]=a42;
  if (res[5]!=0) res[5][143]=a42;
  a04=6.3245553203367583e-02;
  a04=(a04*a19);
  a22=3.1622776601683791e-02;
  a21=(a22*a59);
  a60=(a04*a21);
  if (res[6]!=0) res[6][0]=a60;
  a60=(a22*a64);
  a57=(a04*a60);
  if (res[6]!=0) res[6][1]=a57;
  a22=(a22*a14);
  a04=(a04*a22);
  if (res[6]!=0) res[6][2]=a04;
  if (res[6]!=0) res[6][3]=a42;
  if (res[6]!=0) res[6][4]=a42;
  if (res[6]!=0) res[6][5]=a42;
  a04=2.1081851067789195e-01;
  a04=(a04*a29);
  a57=3.1622776601683794e-01;
  a28=(a57*a28);
  a34=(a04*a28);
  if (res[6]!=0) res[6][6]=a34;
  a18=(a57*a18);
  a34=(a04*a18);
  if (res[6]!=0) res[6][7]=a34;
  a03=(a57*a03);
  a04=(a04*a03);
  if (res[6]!=0) res[6][8]=a04;
  if (res[6]!=0) res[6][9]=a42;
  if (res[6]!=0) res[6][10]=a42;
  if (res[6]!=0) res[6][11]=a42;
  if (res[6]!=0) res[6][12]=a42;
  if (res[6]!=0) res[6][13]=a42;
  if (res[6]!=0) res[6][14]=a42;
  if (res[6]!=0) res[6][15]=a42;
  a21=casadi_sq(a21);
  a21=(a19*a21);
  a60=casadi_sq(a60);
  a60=(a19*a60);
  a21=(a21+a60);
  a22=casadi_sq(a22);
  a22=(a19*a22);
  a21=(a21+a22);
  a22=3.3333333333333331e-01;
  a22=(a22*a29);
  a28=casadi_sq(a28);
  a28=(a22*a28);
  a21=(a21+a28);
  a18=casadi_sq(a18);
  a18=(a22*a18);
  a21=(a21+a18);
  a03=casadi_sq(a03);
  a22=(a22*a03);
  a21=(a21+a22);
  if (res[7]!=0) res[7][0]=a21;
  if (res[8]!=0) res[8][0]=a42;
  if (res[8]!=0) res[8][1]=a42;
  if (res[8]!=0) res[8][2]=a42;
  a21=-1.;
  if (res[8]!=0) res[8][3]=a21;
  if (res[8]!=0) res[8][4]=a15;
  if (res[8]!=0) res[8][5]=a42;
  if (res[8]!=0) res[8][6]=a42;
  if (res[8]!=0) res[8][7]=a42;
  if (res[8]!=0) res[8][8]=a42;
  if (res[8]!=0) res[8][9]=a42;
  if (res[8]!=0) res[8][10]=a42;
  if (res[8]!=0) res[8][11]=a42;
  if (res[8]!=0) res[8][12]=a42;
  if (res[8]!=0) res[8][13]=a42;
  if (res[8]!=0) res[8][14]=a42;
  if (res[8]!=0) res[8][15]=a42;
  a15=40.;
  a21=(a59+a15);
  a21=(-a21);
  if (res[9]!=0) res[9][0]=a21;
  a21=(a64+a15);
  a21=(-a21);
  if (res[9]!=0) res[9][1]=a21;
  a21=(a14+a15);
  a21=(-a21);
  if (res[9]!=0) res[9][2]=a21;
  a21=arg[6]? arg[6][0] : 0;
  a21=(a21-a65);
  a22=arg[5]? arg[5][0] : 0;
  a03=(a21-a22);
  if (res[9]!=0) res[9][3]=a03;
  a03=arg[6]? arg[6][1] : 0;
  a03=(a03-a17);
  a18=(a03-a22);
  if (res[9]!=0) res[9][4]=a18;
  a18=arg[6]? arg[6][2] : 0;
  a18=(a18-a01);
  a01=(a18-a22);
  if (res[9]!=0) res[9][5]=a01;
  a01=-casadi_inf;
  if (res[9]!=0) res[9][6]=a01;
  if (res[9]!=0) res[9][7]=a01;
  if (res[9]!=0) res[9][8]=a01;
  if (res[9]!=0) res[9][9]=a01;
  if (res[9]!=0) res[9][10]=a01;
  if (res[9]!=0) res[9][11]=a01;
  if (res[9]!=0) res[9][12]=a01;
  if (res[9]!=0) res[9][13]=a01;
  if (res[9]!=0) res[9][14]=a01;
  if (res[9]!=0) res[9][15]=a01;
  a28=2.0000000000000000e-02;
  a17=(a17-a65);
  a28=(a28+a17);
  a28=(-a28);
  if (res[9]!=0) res[9][16]=a28;
  if (res[9]!=0) res[9][17]=a01;
  if (res[9]!=0) res[9][18]=a01;
  if (res[9]!=0) res[9][19]=a01;
  if (res[9]!=0) res[9][20]=a01;
  if (res[9]!=0) res[9][21]=a01;
  if (res[9]!=0) res[9][22]=a01;
  if (res[9]!=0) res[9][23]=a01;
  a59=(a15-a59);
  if (res[10]!=0) res[10][0]=a59;
  a64=(a15-a64);
  if (res[10]!=0) res[10][1]=a64;
  a15=(a15-a14);
  if (res[10]!=0) res[10][2]=a15;
  a21=(a22+a21);
  if (res[10]!=0) res[10][3]=a21;
  a03=(a22+a03);
  if (res[10]!=0) res[10][4]=a03;
  a22=(a22+a18);
  if (res[10]!=0) res[10][5]=a22;
  a22=casadi_inf;
  if (res[10]!=0) res[10][6]=a22;
  if (res[10]!=0) res[10][7]=a22;
  if (res[10]!=0) res[10][8]=a22;
  if (res[10]!=0) res[10][9]=a22;
  if (res[10]!=0) res[10][10]=a22;
  if (res[10]!=0) res[10][11]=a22;
  if (res[10]!=0) res[10][12]=a22;
  if (res[10]!=0) res[10][13]=a22;
  if (res[10]!=0) res[10][14]=a22;
  if (res[10]!=0) res[10][15]=a22;
  a18=2.0000000000000001e-01;
  a18=(a18-a17);
  if (res[10]!=0) res[10][16]=a18;
  if (res[10]!=0) res[10][17]=a22;
  if (res[10]!=0) res[10][18]=a22;
  if (res[10]!=0) res[10][19]=a22;
  if (res[10]!=0) res[10][20]=a22;
  if (res[10]!=0) res[10][21]=a22;
  if (res[10]!=0) res[10][22]=a22;
  if (res[10]!=0) res[10][23]=a22;
  if (res[11]!=0) res[11][0]=a42;
  if (res[11]!=0) res[11][1]=a42;
  if (res[11]!=0) res[11][2]=a42;
  if (res[11]!=0) res[11][3]=a42;
  if (res[11]!=0) res[11][4]=a42;
  if (res[11]!=0) res[11][5]=a42;
  if (res[11]!=0) res[11][6]=a57;
  if (res[11]!=0) res[11][7]=a42;
  if (res[11]!=0) res[11][8]=a42;
  if (res[11]!=0) res[11][9]=a42;
  if (res[11]!=0) res[11][10]=a42;
  if (res[11]!=0) res[11][11]=a42;
  if (res[11]!=0) res[11][12]=a42;
  if (res[11]!=0) res[11][13]=a42;
  if (res[11]!=0) res[11][14]=a42;
  if (res[11]!=0) res[11][15]=a42;
  if (res[11]!=0) res[11][16]=a42;
  if (res[11]!=0) res[11][17]=a42;
  if (res[11]!=0) res[11][18]=a42;
  if (res[11]!=0) res[11][19]=a42;
  if (res[11]!=0) res[11][20]=a42;
  if (res[11]!=0) res[11][21]=a42;
  if (res[11]!=0) res[11][22]=a42;
  if (res[11]!=0) res[11][23]=a57;
  if (res[11]!=0) res[11][24]=a42;
  if (res[11]!=0) res[11][25]=a42;
  if (res[11]!=0) res[11][26]=a42;
  if (res[11]!=0) res[11][27]=a42;
  if (res[11]!=0) res[11][28]=a42;
  if (res[11]!=0) res[11][29]=a42;
  if (res[11]!=0) res[11][30]=a42;
  if (res[11]!=0) res[11][31]=a42;
  if (res[11]!=0) res[11][32]=a42;
  if (res[11]!=0) res[11][33]=a42;
  if (res[11]!=0) res[11][34]=a42;
  if (res[11]!=0) res[11][35]=a42;
  if (res[11]!=0) res[11][36]=a42;
  if (res[11]!=0) res[11][37]=a42;
  if (res[11]!=0) res[11][38]=a42;
  if (res[11]!=0) res[11][39]=a42;
  if (res[11]!=0) res[11][40]=a57;
  if (res[11]!=0) res[11][41]=a42;
  if (res[11]!=0) res[11][42]=a42;
  if (res[11]!=0) res[11][43]=a42;
  if (res[11]!=0) res[11][44]=a42;
  if (res[11]!=0) res[11][45]=a42;
  if (res[11]!=0) res[11][46]=a42;
  if (res[11]!=0) res[11][47]=a42;
  if (res[11]!=0) res[11][48]=a42;
  if (res[11]!=0) res[11][49]=a42;
  if (res[11]!=0) res[11][50]=a42;
  if (res[11]!=0) res[11][51]=a42;
  if (res[11]!=0) res[11][52]=a42;
  if (res[11]!=0) res[11][53]=a42;
  if (res[11]!=0) res[11][54]=a42;
  if (res[11]!=0) res[11][55]=a42;
  if (res[11]!=0) res[11][56]=a42;
  if (res[11]!=0) res[11][57]=a42;
  if (res[11]!=0) res[11][58]=a42;
  if (res[11]!=0) res[11][59]=a42;
  if (res[11]!=0) res[11][60]=a42;
  if (res[11]!=0) res[11][61]=a42;
  if (res[11]!=0) res[11][62]=a42;
  if (res[11]!=0) res[11][63]=a42;
  if (res[11]!=0) res[11][64]=a42;
  if (res[11]!=0) res[11][65]=a42;
  if (res[11]!=0) res[11][66]=a42;
  if (res[11]!=0) res[11][67]=a42;
  if (res[11]!=0) res[11][68]=a42;
  if (res[11]!=0) res[11][69]=a42;
  if (res[11]!=0) res[11][70]=a42;
  if (res[11]!=0) res[11][71]=a42;
  if (res[11]!=0) res[11][72]=a42;
  if (res[11]!=0) res[11][73]=a42;
  if (res[11]!=0) res[11][74]=a42;
  if (res[11]!=0) res[11][75]=a42;
  if (res[11]!=0) res[11][76]=a42;
  if (res[11]!=0) res[11][77]=a42;
  if (res[11]!=0) res[11][78]=a42;
  if (res[11]!=0) res[11][79]=a42;
  if (res[11]!=0) res[11][80]=a42;
  if (res[11]!=0) res[11][81]=a42;
  if (res[11]!=0) res[11][82]=a42;
  if (res[11]!=0) res[11][83]=a42;
  if (res[11]!=0) res[11][84]=a42;
  if (res[11]!=0) res[11][85]=a42;
  if (res[11]!=0) res[11][86]=a42;
  if (res[11]!=0) res[11][87]=a42;
  if (res[11]!=0) res[11][88]=a42;
  if (res[11]!=0) res[11][89]=a42;
  if (res[11]!=0) res[11][90]=a42;
  if (res[11]!=0) res[11][91]=a42;
  if (res[11]!=0) res[11][92]=a42;
  if (res[11]!=0) res[11][93]=a42;
  if (res[11]!=0) res[11][94]=a42;
  if (res[11]!=0) res[11][95]=a42;
  a30=(a57*a30);
  if (res[12]!=0) res[12][0]=a30;
  a20=(a57*a20);
  if (res[12]!=0) res[12][1]=a20;
  a57=(a57*a05);
  if (res[12]!=0) res[12][2]=a57;
  if (res[12]!=0) res[12][3]=a42;
  if (res[12]!=0) res[12][4]=a42;
  if (res[12]!=0) res[12][5]=a42;
  a57=6.6666666666666663e-01;
  a57=(a57*a19);
  if (res[13]!=0) res[13][0]=a57;
  if (res[13]!=0) res[13][1]=a57;
  if (res[13]!=0) res[13][2]=a57;
  if (res[13]!=0) res[13][3]=a42;
  if (res[13]!=0) res[13][4]=a42;
  if (res[13]!=0) res[13][5]=a42;
  a42=5.0000000000000010e-03;
  if (res[14]!=0) res[14][0]=a42;
  if (res[14]!=0) res[14][1]=a00;
  if (res[14]!=0) res[14][2]=a42;
  if (res[14]!=0) res[14][3]=a00;
  if (res[14]!=0) res[14][4]=a42;
  if (res[14]!=0) res[14][5]=a00;
  a00=1.5811388300841899e-02;
  if (res[15]!=0) res[15][0]=a00;
  if (res[15]!=0) res[15][1]=a00;
  if (res[15]!=0) res[15][2]=a00;
  return 0;
}

CASADI_SYMBOL_EXPORT int tick_stage_0_of_one(const casadi_real** arg, casadi_real** res, casadi_int* iw, casadi_real* w, int mem){
  return casadi_f0(arg, res, iw, w, mem);
}

CASADI_SYMBOL_EXPORT int tick_stage_0_of_one_checkout(void) {
  return 0;
}

CASADI_SYMBOL_EXPORT void tick_stage_0_of_one_release(int mem) {
}

CASADI_SYMBOL_EXPORT void tick_stage_0_of_one_incref(void) {
}

CASADI_SYMBOL_EXPORT void tick_stage_0_of_one_decref(void) {
}

CASADI_SYMBOL_EXPORT casadi_int tick_stage_0_of_one_n_in(void) { return 12;}

CASADI_SYMBOL_EXPORT casadi_int tick_stage_0_of_one_n_out(void) { return 16;}

CASADI_SYMBOL_EXPORT casadi_real tick_stage_0_of_one_default_in(casadi_int i) {
  switch (i) {
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const char* tick_stage_0_of_one_name_in(casadi_int i) {
  switch (i) {
    case 0: return "i0";
    case 1: return "i1";
    case 2: return "i2";
    case 3: return "i3";
    case 4: return "i4";
    case 5: return "i5";
    case 6: return "i6";
    case 7: return "i7";
    case 8: return "i8";
    case 9: return "i9";
    case 10: return "i10";
    case 11: return "i11";
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const char* tick_stage_0_of_one_name_out(casadi_int i) {
  switch (i) {
    case 0: return "o0";
    case 1: return "o1";
    case 2: return "o2";
    case 3: return "o3";
    case 4: return "o4";
    case 5: return "o5";
    case 6: return "o6";
    case 7: return "o7";
    case 8: return "o8";
    case 9: return "o9";
    case 10: return "o10";
    case 11: return "o11";
    case 12: return "o12";
    case 13: return "o13";
    case 14: return "o14";
    case 15: return "o15";
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const casadi_int* tick_stage_0_of_one_sparsity_in(casadi_int i) {
  switch (i) {
    case 0: return casadi_s0;
    case 1: return casadi_s1;
    case 2: return casadi_s1;
    case 3: return casadi_s2;
    case 4: return casadi_s3;
    case 5: return casadi_s3;
    case 6: return casadi_s0;
    case 7: return casadi_s4;
    case 8: return casadi_s4;
    case 9: return casadi_s1;
    case 10: return casadi_s1;
    case 11: return casadi_s0;
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const casadi_int* tick_stage_0_of_one_sparsity_out(casadi_int i) {
  switch (i) {
    case 0: return casadi_s5;
    case 1: return casadi_s6;
    case 2: return casadi_s1;
    case 3: return casadi_s7;
    case 4: return casadi_s0;
    case 5: return casadi_s8;
    case 6: return casadi_s9;
    case 7: return casadi_s2;
    case 8: return casadi_s9;
    case 9: return casadi_s10;
    case 10: return casadi_s10;
    case 11: return casadi_s7;
    case 12: return casadi_s0;
    case 13: return casadi_s0;
    case 14: return casadi_s0;
    case 15: return casadi_s1;
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT int tick_stage_0_of_one_work(casadi_int *sz_arg, casadi_int* sz_res, casadi_int *sz_iw, casadi_int *sz_w) {
  if (sz_arg) *sz_arg = 12;
  if (sz_res) *sz_res = 16;
  if (sz_iw) *sz_iw = 0;
  if (sz_w) *sz_w = 0;
  return 0;
}

CASADI_SYMBOL_EXPORT int tick_stage_0_of_one_work_bytes(casadi_int *sz_arg, casadi_int* sz_res, casadi_int *sz_iw, casadi_int *sz_w) {
  if (sz_arg) *sz_arg = 12*sizeof(const casadi_real*);
  if (sz_res) *sz_res = 16*sizeof(casadi_real*);
  if (sz_iw) *sz_iw = 0*sizeof(casadi_int);
  if (sz_w) *sz_w = 0*sizeof(casadi_real);
  return 0;
}




static int64_t tick_stage_0(const int64_t* task) {
  static double w[74];
  static casadi_int iw[1];
  const double* arg[12];
  double* res[16];
  for (int64_t k = 0; k < task[0]; ++k) {
    for (int i = 0; i < 12; ++i) arg[i] = (const double*) (intptr_t) task[3 * i + 1] + k * task[3 * i + 2];
    for (int i = 0; i < 16; ++i) {
      const int64_t* place = task + 3 * (12 + i) + 1;
      res[i] = (double*) (intptr_t) place[0] + k * place[1];
    }
    if (tick_stage_0_of_one(arg, res, iw, w, 0)) return k + 1;
  }
  return 0;
}

static int64_t ports_stage_0[56];
#undef CASADI_PREFIX
/* How to prefix internal symbols */
#ifdef CASADI_CODEGEN_PREFIX
  #define CASADI_NAMESPACE_CONCAT(NS, ID) _CASADI_NAMESPACE_CONCAT(NS, ID)
  #define _CASADI_NAMESPACE_CONCAT(NS, ID) NS ## ID
  #define CASADI_PREFIX(ID) CASADI_NAMESPACE_CONCAT(CODEGEN_PREFIX, ID)
#else
  #define CASADI_PREFIX(ID) tick_stage_1_ ## ID
#endif

#include <math.h>

#ifndef casadi_real
#define casadi_real double
#endif

#ifndef casadi_int
#define casadi_int long long int
#endif

/* Add prefix to internal symbols */
#define casadi_f0 CASADI_PREFIX(f0)
#define casadi_s0 CASADI_PREFIX(s0)
#define casadi_s1 CASADI_PREFIX(s1)
#define casadi_s10 CASADI_PREFIX(s10)
#define casadi_s2 CASADI_PREFIX(s2)
#define casadi_s3 CASADI_PREFIX(s3)
#define casadi_s4 CASADI_PREFIX(s4)
#define casadi_s5 CASADI_PREFIX(s5)
#define casadi_s6 CASADI_PREFIX(s6)
#define casadi_s7 CASADI_PREFIX(s7)
#define casadi_s8 CASADI_PREFIX(s8)
#define casadi_s9 CASADI_PREFIX(s9)
#define casadi_sq CASADI_PREFIX(sq)

/* Symbol visibility in DLLs */
#ifndef CASADI_SYMBOL_EXPORT
  #if defined(_WIN32) || defined(__WIN32__) || defined(__CYGWIN__)
    #if defined(STATIC_LINKED)
      #define CASADI_SYMBOL_EXPORT
    #else
      #define CASADI_SYMBOL_EXPORT __declspec(dllexport)
    #endif
  #elif defined(__GNUC__) && defined(GCC_HASCLASSVISIBILITY)
    #define CASADI_SYMBOL_EXPORT __attribute__ ((visibility ("default")))
  #else
    #define CASADI_SYMBOL_EXPORT
  #endif
#endif

casadi_real casadi_sq(casadi_real x) { return x*x;}

#ifndef casadi_inf
  #define casadi_inf INFINITY
#endif

/* Configuration this file was compiled with */
CASADI_SYMBOL_EXPORT void tick_stage_1_casadi_version(int* major, int* minor, int* patch) {
  *major = 3;
  *minor = 8;
  *patch = 2;
}
CASADI_SYMBOL_EXPORT int tick_stage_1_casadi_int_size(void) { return (int) sizeof(casadi_int); }
CASADI_SYMBOL_EXPORT int tick_stage_1_casadi_real_size(void) { return (int) sizeof(casadi_real); }

static const casadi_int casadi_s0[3] = {6, 1, 1};
static const casadi_int casadi_s1[3] = {3, 1, 1};
static const casadi_int casadi_s2[3] = {1, 1, 1};
static const casadi_int casadi_s3[3] = {5, 1, 1};
static const casadi_int casadi_s4[3] = {0, 1, 1};
static const casadi_int casadi_s5[3] = {9, 1, 1};
static const casadi_int casadi_s6[3] = {48, 1, 1};
static const casadi_int casadi_s7[3] = {96, 1, 1};
static const casadi_int casadi_s8[3] = {144, 1, 1};
static const casadi_int casadi_s9[3] = {16, 1, 1};
static const casadi_int casadi_s10[3] = {24, 1, 1};

/* tick_stage_1_of_one:(i0[6],i1[3],i2[3],i3,i4[5],i5[5],i6[6],i7[0],i8[0],i9[3],i10[3],i11[6])->(o0[9],o1[48],o2[3],o3[96],o4[6],o5[144],o6[16],o7,o8[16],o9[24],o10[24],o11[96],o12[6],o13[6],o14[6],o15[6]) */
static int casadi_f0(const casadi_real** arg, casadi_real** res, casadi_int* iw, casadi_real* w, int mem) {
  casadi_real a00, a01, a02, a03, a04, a05, a06, a07, a08, a09, a10, a11;
  casadi_real a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23;
  casadi_real a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35;
  casadi_real a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47;
  casadi_real a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59;
  casadi_real a60, a61, a62, a63, a64, a65, a66, a67, a68, a69, a70, a71;
  casadi_real a72, a73, a74, a75;
  a00=1.6249999999999987e-02;
  a01=arg[0]? arg[0][2] : 0;
  a02=3.7499999999999999e-02;
  a03=arg[0]? arg[0][5] : 0;
  a04=arg[2]? arg[2][2] : 0;
  a05=(a02*a04);
  a05=(a03+a05);
  a06=(a02*a05);
  a06=(a01+a06);
  a07=sin(a06);
  a08=7.7020000000000005e-02;
  a09=(a08*a07);
  a10=(a07*a09);
  a11=(a00+a10);
  a12=9.3269999999999992e-02;
  a10=(a12-a10);
  a13=(a11+a10);
  a14=8.2999999999999996e-01;
  a15=(a13+a14);
  a16=1.4062499999999999e-03;
  a17=arg[0]? arg[0][1] : 0;
  a18=arg[0]? arg[0][4] : 0;
  a19=arg[2]? arg[2][1] : 0;
  a20=(a02*a19);
  a20=(a18+a20);
  a21=(a02*a20);
  a21=(a17+a21);
  a22=sin(a21);
  a23=cos(a06);
  a24=(a22*a23);
  a25=cos(a21);
  a26=(a07*a25);
  a24=(a24+a26);
  a26=(a08*a24);
  a27=(a24*a26);
  a28=(a23*a25);
  a29=(a07*a22);
  a28=(a28-a29);
  a08=(a08*a28);
  a29=(a28*a08);
  a29=(a27-a29);
  a30=arg[0]? arg[0][3] : 0;
  a31=arg[2]? arg[2][0] : 0;
  a32=(a02*a31);
  a32=(a30+a32);
  a33=casadi_sq(a32);
  a34=(a29*a33);
  a35=1.4508480000000001e-01;
  a36=(a35*a24);
  a37=casadi_sq(a20);
  a38=(a33+a37);
  a39=(a25*a38);
  a40=(a19*a22);
  a39=(a39+a40);
  a41=3.7769800833719314e-01;
  a42=(a41*a31);
  a39=(a39+a42);
  a42=(a36*a39);
  a43=(a35*a28);
  a44=(a19*a25);
  a45=(a22*a37);
  a45=(a44-a45);
  a46=2.2718851320055581e+01;
  a45=(a45-a46);
  a47=(a43*a45);
  a48=(a42+a47);
  a48=(a34+a48);
  a16=(a16*a48);
  a15=(a15+a16);
  if (res[0]!=0) res[0][0]=a15;
  a15=(a35*a07);
  a13=(a13+a15);
  a38=(a22*a38);
  a44=(a44-a38);
  a44=(a43*a44);
  a42=(a42-a44);
  a44=(a25*a37);
  a40=(a40+a44);
  a40=(a36*a40);
  a40=(a40-a47);
  a42=(a42-a40);
  a34=(a34+a42);
  a42=(a02*a34);
  a40=(2.*a20);
  a47=(a25*a40);
  a47=(a43*a47);
  a44=(a22*a40);
  a38=(a36*a44);
  a47=(a47+a38);
  a42=(a42-a47);
  a38=(a02*a42);
  a38=(a13+a38);
  if (res[0]!=0) res[0][1]=a38;
  a38=5.4798240000000005e-02;
  a16=(a38*a23);
  a49=(a25*a16);
  a38=(a38*a07);
  a07=(a22*a38);
  a49=(a49-a07);
  a26=(a26*a28);
  a28=(2.*a32);
  a07=(a26*a28);
  a50=(a25*a28);
  a50=(a43*a50);
  a50=(a07+a50);
  a51=(a02*a50);
  a51=(a49+a51);
  a51=(-a51);
  if (res[0]!=0) res[0][2]=a51;
  a51=(a05+a20);
  a52=(2.*a51);
  a53=(a43*a52);
  a53=(a25*a53);
  a54=(a36*a52);
  a55=(a22*a54);
  a55=(a53+a55);
  a56=casadi_sq(a51);
  a57=(a36*a56);
  a58=(a19+a04);
  a59=(a43*a58);
  a57=(a57-a59);
  a57=(a25*a57);
  a60=(a33+a56);
  a61=(a43*a60);
  a62=(a36*a58);
  a61=(a61+a62);
  a63=(a22*a61);
  a64=(a57-a63);
  a64=(a48-a64);
  a65=(a02*a64);
  a65=(a55+a65);
  a66=(a02*a65);
  a13=(a13+a66);
  if (res[0]!=0) res[0][3]=a13;
  a13=1.4419235520000000e+00;
  a11=(a11+a15);
  a15=(a15+a11);
  a15=(a13+a15);
  a11=7.3126400000000008e-02;
  a10=(a10+a11);
  a66=(a15-a10);
  a66=(a22*a66);
  a67=7.0992000000000000e-03;
  a09=(a09*a23);
  a35=(a35*a23);
  a09=(a09+a35);
  a09=(a67-a09);
  a09=(2.*a09);
  a09=(a25*a09);
  a66=(a66+a09);
  a66=(a22*a66);
  a15=(a15-a66);
  a10=(a10+a66);
  a10=(a15+a10);
  a66=4.7100000000000000e+00;
  a10=(a10+a66);
  a55=(a55-a47);
  a47=1.3687971520000000e+00;
  a09=(a47*a25);
  a35=1.4198400000000000e-02;
  a23=(a35*a22);
  a09=(a09-a23);
  a23=(a25*a09);
  a47=(a47*a22);
  a35=(a35*a25);
  a47=(a47+a35);
  a35=(a22*a47);
  a23=(a23-a35);
  a68=(a33*a23);
  a69=6.0720485759999998e-01;
  a70=(a69*a25);
  a71=2.3750999999999998e-02;
  a72=(a71*a22);
  a70=(a70-a72);
  a72=(a31*a70);
  a68=(a68+a72);
  a72=1.4058717120000002e+00;
  a73=(a72*a22);
  a74=4.5079919999999996e-02;
  a75=(a74*a25);
  a73=(a73+a75);
  a73=(a46*a73);
  a68=(a68+a73);
  a60=(a36*a60);
  a59=(a59-a60);
  a60=(a25*a59);
  a60=(a60-a63);
  a56=(a43*a56);
  a62=(a62+a56);
  a56=(a22*a62);
  a57=(a57+a56);
  a60=(a60+a57);
  a60=(a34-a60);
  a68=(a68+a60);
  a60=(a02*a68);
  a55=(a55+a60);
  a60=(a02*a55);
  a10=(a10+a60);
  if (res[0]!=0) res[0][4]=a10;
  a38=(a38+a69);
  a38=(a22*a38);
  a16=(a71-a16);
  a16=(a25*a16);
  a38=(a38+a16);
  a47=(a25*a47);
  a67=(a47-a67);
  a16=(a28*a67);
  a10=(a36*a28);
  a60=(a22*a10);
  a60=(a60-a50);
  a60=(a16+a60);
  a57=(a02*a60);
  a57=(a38+a57);
  if (res[0]!=0) res[0][5]=a57;
  a54=(a41*a54);
  a57=(a43*a28);
  a57=(a25*a57);
  a54=(a54+a57);
  a57=(a07+a54);
  a51=(a32*a51);
  a51=(2.*a51);
  a29=(a29*a51);
  a24=(a24*a08);
  a24=(a26+a24);
  a24=(a31*a24);
  a29=(a29-a24);
  a24=(a31*a25);
  a08=(a20*a32);
  a08=(2.*a08);
  a56=(a22*a08);
  a24=(a24-a56);
  a56=(a41*a33);
  a24=(a24-a56);
  a56=(a43*a24);
  a63=(a29-a56);
  a61=(a41*a61);
  a73=(a36*a51);
  a75=(a31*a43);
  a73=(a73-a75);
  a73=(a25*a73);
  a75=(a61-a73);
  a63=(a63-a75);
  a75=(a02*a63);
  a57=(a57-a75);
  a75=(a02*a57);
  a75=(a75-a49);
  if (res[0]!=0) res[0][6]=a75;
  a75=(a40*a70);
  a16=(a16-a75);
  a28=(a22*a28);
  a28=(a36*a28);
  a28=(a28-a07);
  a28=(a28-a54);
  a16=(a16+a28);
  a23=(a08*a23);
  a28=(a19*a70);
  a69=(a69*a22);
  a71=(a71*a25);
  a69=(a69+a71);
  a71=(a37*a69);
  a28=(a28-a71);
  a09=(a22*a09);
  a47=(a47+a09);
  a47=(a31*a47);
  a28=(a28-a47);
  a23=(a23-a28);
  a28=(a31*a22);
  a47=(a25*a08);
  a28=(a28+a47);
  a28=(a36*a28);
  a28=(a28-a56);
  a29=(a29+a28);
  a28=(a31*a36);
  a56=(a43*a51);
  a28=(a28+a56);
  a56=(a22*a28);
  a73=(a73+a56);
  a61=(a61-a73);
  a29=(a29-a61);
  a23=(a23+a29);
  a29=(a02*a23);
  a16=(a16+a29);
  a29=(a02*a16);
  a38=(a38-a29);
  if (res[0]!=0) res[0][7]=a38;
  a38=1.7499999999999999e-01;
  a15=(a15+a38);
  a29=1.2569808208800000e+00;
  a15=(a15+a29);
  a61=1.1399999999999999e+00;
  a15=(a15+a61);
  a40=(a40*a67);
  a73=7.5539601667438627e-01;
  a73=(a73*a32);
  a44=(a44+a73);
  a44=(a36*a44);
  a52=(a52*a26);
  a44=(a44-a52);
  a10=(a41*a10);
  a53=(a53+a10);
  a44=(a44-a53);
  a40=(a40+a44);
  a44=(a02*a40);
  a15=(a15-a44);
  if (res[0]!=0) res[0][8]=a15;
  a15=1.;
  if (res[1]!=0) res[1][0]=a15;
  a44=0.;
  if (res[1]!=0) res[1][1]=a44;
  if (res[1]!=0) res[1][2]=a44;
  if (res[1]!=0) res[1][3]=a44;
  if (res[1]!=0) res[1][4]=a23;
  if (res[1]!=0) res[1][5]=a63;
  if (res[1]!=0) res[1][6]=a40;
  if (res[1]!=0) res[1][7]=a16;
  a57=(-a57);
  if (res[1]!=0) res[1][8]=a57;
  if (res[1]!=0) res[1][9]=a44;
  if (res[1]!=0) res[1][10]=a44;
  if (res[1]!=0) res[1][11]=a44;
  if (res[1]!=0) res[1][12]=a44;
  if (res[1]!=0) res[1][13]=a44;
  if (res[1]!=0) res[1][14]=a44;
  if (res[1]!=0) res[1][15]=a44;
  if (res[1]!=0) res[1][16]=a44;
  if (res[1]!=0) res[1][17]=a15;
  if (res[1]!=0) res[1][18]=a44;
  if (res[1]!=0) res[1][19]=a44;
  a68=(-a68);
  if (res[1]!=0) res[1][20]=a68;
  a64=(-a64);
  if (res[1]!=0) res[1][21]=a64;
  a60=(-a60);
  if (res[1]!=0) res[1][22]=a60;
  a55=(-a55);
  if (res[1]!=0) res[1][23]=a55;
  a65=(-a65);
  if (res[1]!=0) res[1][24]=a65;
  if (res[1]!=0) res[1][25]=a44;
  if (res[1]!=0) res[1][26]=a44;
  if (res[1]!=0) res[1][27]=a44;
  if (res[1]!=0) res[1][28]=a44;
  if (res[1]!=0) res[1][29]=a44;
  if (res[1]!=0) res[1][30]=a44;
  if (res[1]!=0) res[1][31]=a44;
  if (res[1]!=0) res[1][32]=a44;
  if (res[1]!=0) res[1][33]=a44;
  if (res[1]!=0) res[1][34]=a15;
  if (res[1]!=0) res[1][35]=a44;
  a34=(-a34);
  if (res[1]!=0) res[1][36]=a34;
  a34=(-a48);
  if (res[1]!=0) res[1][37]=a34;
  if (res[1]!=0) res[1][38]=a50;
  a42=(-a42);
  if (res[1]!=0) res[1][39]=a42;
  a48=(a02*a48);
  a48=(-a48);
  if (res[1]!=0) res[1][40]=a48;
  if (res[1]!=0) res[1][41]=a44;
  if (res[1]!=0) res[1][42]=a44;
  if (res[1]!=0) res[1][43]=a44;
  if (res[1]!=0) res[1][44]=a44;
  if (res[1]!=0) res[1][45]=a44;
  if (res[1]!=0) res[1][46]=a44;
  if (res[1]!=0) res[1][47]=a44;
  a38=(a38*a31);
  a29=(a29*a31);
  a38=(a38+a29);
  a08=(a08*a67);
  a37=(a37*a70);
  a70=(a19*a69);
  a37=(a37+a70);
  a13=(a13-a35);
  a70=(a31*a13);
  a37=(a37+a70);
  a08=(a08-a37);
  a51=(a26*a51);
  a00=(a00+a27);
  a37=(a31*a00);
  a51=(a51+a37);
  a24=(a36*a24);
  a51=(a51+a24);
  a28=(a25*a28);
  a41=(a41*a59);
  a28=(a28-a41);
  a51=(a51+a28);
  a08=(a08-a51);
  a38=(a38-a08);
  a61=(a61*a31);
  a38=(a38+a61);
  a61=arg[1]? arg[1][0] : 0;
  a38=(a38-a61);
  a38=(-a38);
  if (res[2]!=0) res[2][0]=a38;
  a67=(a33*a67);
  a13=(a19*a13);
  a67=(a67+a13);
  a11=(a11+a35);
  a11=(a19*a11);
  a67=(a67+a11);
  a69=(a31*a69);
  a67=(a67+a69);
  a72=(a72*a25);
  a74=(a74*a22);
  a72=(a72-a74);
  a46=(a46*a72);
  a67=(a67-a46);
  a00=(a58*a00);
  a33=(a33*a26);
  a00=(a00-a33);
  a12=(a12-a27);
  a58=(a58*a12);
  a00=(a00+a58);
  a36=(a36*a45);
  a39=(a39*a43);
  a36=(a36-a39);
  a00=(a00+a36);
  a22=(a22*a59);
  a25=(a25*a62);
  a22=(a22-a25);
  a22=(a00-a22);
  a67=(a67+a22);
  a66=(a66*a19);
  a67=(a67+a66);
  a66=arg[1]? arg[1][1] : 0;
  a67=(a67-a66);
  a67=(-a67);
  if (res[2]!=0) res[2][1]=a67;
  a14=(a14*a04);
  a00=(a00+a14);
  a14=arg[1]? arg[1][2] : 0;
  a00=(a00-a14);
  a00=(-a00);
  if (res[2]!=0) res[2][2]=a00;
  if (res[3]!=0) res[3][0]=a44;
  if (res[3]!=0) res[3][1]=a44;
  if (res[3]!=0) res[3][2]=a44;
  if (res[3]!=0) res[3][3]=a15;
  if (res[3]!=0) res[3][4]=a44;
  if (res[3]!=0) res[3][5]=a44;
  a00=7.4999999999999997e-02;
  if (res[3]!=0) res[3][6]=a00;
  if (res[3]!=0) res[3][7]=a44;
  if (res[3]!=0) res[3][8]=a44;
  if (res[3]!=0) res[3][9]=a44;
  if (res[3]!=0) res[3][10]=a44;
  if (res[3]!=0) res[3][11]=a44;
  if (res[3]!=0) res[3][12]=a44;
  if (res[3]!=0) res[3][13]=a44;
  if (res[3]!=0) res[3][14]=a44;
  if (res[3]!=0) res[3][15]=a44;
  if (res[3]!=0) res[3][16]=a44;
  if (res[3]!=0) res[3][17]=a44;
  if (res[3]!=0) res[3][18]=a44;
  if (res[3]!=0) res[3][19]=a44;
  if (res[3]!=0) res[3][20]=a15;
  if (res[3]!=0) res[3][21]=a44;
  if (res[3]!=0) res[3][22]=a44;
  if (res[3]!=0) res[3][23]=a00;
  if (res[3]!=0) res[3][24]=a44;
  if (res[3]!=0) res[3][25]=a44;
  if (res[3]!=0) res[3][26]=a44;
  if (res[3]!=0) res[3][27]=a44;
  if (res[3]!=0) res[3][28]=a44;
  if (res[3]!=0) res[3][29]=a44;
  if (res[3]!=0) res[3][30]=a44;
  if (res[3]!=0) res[3][31]=a44;
  if (res[3]!=0) res[3][32]=a44;
  if (res[3]!=0) res[3][33]=a44;
  if (res[3]!=0) res[3][34]=a44;
  if (res[3]!=0) res[3][35]=a44;
  if (res[3]!=0) res[3][36]=a44;
  if (res[3]!=0) res[3][37]=a15;
  if (res[3]!=0) res[3][38]=a44;
  if (res[3]!=0) res[3][39]=a44;
  if (res[3]!=0) res[3][40]=a00;
  if (res[3]!=0) res[3][41]=a44;
  if (res[3]!=0) res[3][42]=a44;
  if (res[3]!=0) res[3][43]=a44;
  if (res[3]!=0) res[3][44]=a44;
  if (res[3]!=0) res[3][45]=a44;
  if (res[3]!=0) res[3][46]=a44;
  if (res[3]!=0) res[3][47]=a44;
  if (res[3]!=0) res[3][48]=a44;
  if (res[3]!=0) res[3][49]=a44;
  if (res[3]!=0) res[3][50]=a44;
  if (res[3]!=0) res[3][51]=a44;
  if (res[3]!=0) res[3][52]=a44;
  if (res[3]!=0) res[3][53]=a44;
  if (res[3]!=0) res[3][54]=a15;
  if (res[3]!=0) res[3][55]=a44;
  if (res[3]!=0) res[3][56]=a44;
  if (res[3]!=0) res[3][57]=a44;
  if (res[3]!=0) res[3][58]=a44;
  if (res[3]!=0) res[3][59]=a44;
  if (res[3]!=0) res[3][60]=a44;
  if (res[3]!=0) res[3][61]=a44;
  if (res[3]!=0) res[3][62]=a44;
  if (res[3]!=0) res[3][63]=a44;
  if (res[3]!=0) res[3][64]=a44;
  if (res[3]!=0) res[3][65]=a44;
  if (res[3]!=0) res[3][66]=a44;
  if (res[3]!=0) res[3][67]=a44;
  if (res[3]!=0) res[3][68]=a44;
  if (res[3]!=0) res[3][69]=a44;
  if (res[3]!=0) res[3][70]=a44;
  if (res[3]!=0) res[3][71]=a15;
  if (res[3]!=0) res[3][72]=a44;
  if (res[3]!=0) res[3][73]=a44;
  if (res[3]!=0) res[3][74]=a44;
  if (res[3]!=0) res[3][75]=a44;
  if (res[3]!=0) res[3][76]=a44;
  if (res[3]!=0) res[3][77]=a44;
  if (res[3]!=0) res[3][78]=a44;
  if (res[3]!=0) res[3][79]=a44;
  if (res[3]!=0) res[3][80]=a44;
  if (res[3]!=0) res[3][81]=a44;
  if (res[3]!=0) res[3][82]=a44;
  if (res[3]!=0) res[3][83]=a44;
  if (res[3]!=0) res[3][84]=a44;
  if (res[3]!=0) res[3][85]=a44;
  if (res[3]!=0) res[3][86]=a44;
  if (res[3]!=0) res[3][87]=a44;
  if (res[3]!=0) res[3][88]=a15;
  if (res[3]!=0) res[3][89]=a44;
  if (res[3]!=0) res[3][90]=a44;
  if (res[3]!=0) res[3][91]=a44;
  if (res[3]!=0) res[3][92]=a44;
  if (res[3]!=0) res[3][93]=a44;
  if (res[3]!=0) res[3][94]=a44;
  if (res[3]!=0) res[3][95]=a44;
  a67=arg[0]? arg[0][0] : 0;
  a22=(a00*a32);
  a22=(a67+a22);
  a25=arg[11]? arg[11][0] : 0;
  a22=(a22-a25);
  if (res[4]!=0) res[4][0]=a22;
  a22=(a00*a20);
  a22=(a17+a22);
  a25=arg[11]? arg[11][1] : 0;
  a22=(a22-a25);
  if (res[4]!=0) res[4][1]=a22;
  a22=(a00*a05);
  a22=(a01+a22);
  a25=arg[11]? arg[11][2] : 0;
  a22=(a22-a25);
  if (res[4]!=0) res[4][2]=a22;
  a31=(a00*a31);
  a31=(a30+a31);
  a22=arg[11]? arg[11][3] : 0;
  a31=(a31-a22);
  if (res[4]!=0) res[4][3]=a31;
  a19=(a00*a19);
  a19=(a18+a19);
  a31=arg[11]? arg[11][4] : 0;
  a19=(a19-a31);
  if (res[4]!=0) res[4][4]=a19;
  a04=(a00*a04);
  a04=(a03+a04);
  a19=arg[11]? arg[11][5] : 0;
  a04=(a04-a19);
  if (res[4]!=0) res[4][5]=a04;
  a04=1.9999999999999996e-03;
  a19=arg[4]? arg[4][4] : 0;
  a04=(a04*a19);
  if (res[5]!=0) res[5][0]=a04;
  if (res[5]!=0) res[5][1]=a44;
  if (res[5]!=0) res[5][2]=a44;
  if (res[5]!=0) res[5][3]=a44;
  if (res[5]!=0) res[5][4]=a44;
  if (res[5]!=0) res[5][5]=a44;
  if (res[5]!=0) res[5][6]=a44;
  if (res[5]!=0) res[5][7]=a44;
  if (res[5]!=0) res[5][8]=a44;
  if (res[5]!=0) res[5][9]=a44;
  if (res[5]!=0) res[5][10]=a44;
  if (res[5]!=0) res[5][11]=a44;
  if (res[5]!=0) res[5][12]=a44;
  if (res[5]!=0) res[5][13]=a44;
  if (res[5]!=0) res[5][14]=a44;
  if (res[5]!=0) res[5][15]=a44;
  if (res[5]!=0) res[5][16]=a44;
  if (res[5]!=0) res[5][17]=a04;
  if (res[5]!=0) res[5][18]=a44;
  if (res[5]!=0) res[5][19]=a44;
  if (res[5]!=0) res[5][20]=a44;
  if (res[5]!=0) res[5][21]=a44;
  if (res[5]!=0) res[5][22]=a44;
  if (res[5]!=0) res[5][23]=a44;
  if (res[5]!=0) res[5][24]=a44;
  if (res[5]!=0) res[5][25]=a44;
  if (res[5]!=0) res[5][26]=a44;
  if (res[5]!=0) res[5][27]=a44;
  if (res[5]!=0) res[5][28]=a44;
  if (res[5]!=0) res[5][29]=a44;
  if (res[5]!=0) res[5][30]=a44;
  if (res[5]!=0) res[5][31]=a44;
  if (res[5]!=0) res[5][32]=a44;
  if (res[5]!=0) res[5][33]=a44;
  if (res[5]!=0) res[5][34]=a04;
  if (res[5]!=0) res[5][35]=a44;
  if (res[5]!=0) res[5][36]=a44;
  if (res[5]!=0) res[5][37]=a44;
  if (res[5]!=0) res[5][38]=a44;
  if (res[5]!=0) res[5][39]=a44;
  if (res[5]!=0) res[5][40]=a44;
  if (res[5]!=0) res[5][41]=a44;
  if (res[5]!=0) res[5][42]=a44;
  if (res[5]!=0) res[5][43]=a44;
  if (res[5]!=0) res[5][44]=a44;
  if (res[5]!=0) res[5][45]=a44;
  if (res[5]!=0) res[5][46]=a44;
  if (res[5]!=0) res[5][47]=a44;
  if (res[5]!=0) res[5][48]=a44;
  if (res[5]!=0) res[5][49]=a44;
  if (res[5]!=0) res[5][50]=a44;
  a04=20.;
  a31=arg[4]? arg[4][3] : 0;
  a04=(a04*a31);
  a22=4.0000000000000007e+01;
  a25=arg[4]? arg[4][1] : 0;
  a22=(a22*a25);
  a22=(a04+a22);
  if (res[5]!=0) res[5][51]=a22;
  if (res[5]!=0) res[5][52]=a44;
  if (res[5]!=0) res[5][53]=a44;
  if (res[5]!=0) res[5][54]=a44;
  if (res[5]!=0) res[5][55]=a44;
  if (res[5]!=0) res[5][56]=a44;
  if (res[5]!=0) res[5][57]=a44;
  if (res[5]!=0) res[5][58]=a44;
  if (res[5]!=0) res[5][59]=a44;
  if (res[5]!=0) res[5][60]=a44;
  if (res[5]!=0) res[5][61]=a44;
  if (res[5]!=0) res[5][62]=a44;
  if (res[5]!=0) res[5][63]=a44;
  if (res[5]!=0) res[5][64]=a44;
  if (res[5]!=0) res[5][65]=a44;
  if (res[5]!=0) res[5][66]=a44;
  if (res[5]!=0) res[5][67]=a44;
  if (res[5]!=0) res[5][68]=a22;
  if (res[5]!=0) res[5][69]=a44;
  if (res[5]!=0) res[5][70]=a44;
  if (res[5]!=0) res[5][71]=a44;
  if (res[5]!=0) res[5][72]=a44;
  if (res[5]!=0) res[5][73]=a44;
  if (res[5]!=0) res[5][74]=a44;
  if (res[5]!=0) res[5][75]=a44;
  if (res[5]!=0) res[5][76]=a44;
  if (res[5]!=0) res[5][77]=a44;
  if (res[5]!=0) res[5][78]=a44;
  if (res[5]!=0) res[5][79]=a44;
  if (res[5]!=0) res[5][80]=a44;
  if (res[5]!=0) res[5][81]=a44;
  if (res[5]!=0) res[5][82]=a44;
  if (res[5]!=0) res[5][83]=a44;
  if (res[5]!=0) res[5][84]=a44;
  if (res[5]!=0) res[5][85]=a04;
  if (res[5]!=0) res[5][86]=a44;
  if (res[5]!=0) res[5][87]=a44;
  if (res[5]!=0) res[5][88]=a44;
  if (res[5]!=0) res[5][89]=a44;
  if (res[5]!=0) res[5][90]=a44;
  if (res[5]!=0) res[5][91]=a44;
  if (res[5]!=0) res[5][92]=a44;
  if (res[5]!=0) res[5][93]=a44;
  if (res[5]!=0) res[5][94]=a44;
  if (res[5]!=0) res[5][95]=a44;
  if (res[5]!=0) res[5][96]=a44;
  if (res[5]!=0) res[5][97]=a44;
  if (res[5]!=0) res[5][98]=a44;
  if (res[5]!=0) res[5][99]=a44;
  if (res[5]!=0) res[5][100]=a44;
  if (res[5]!=0) res[5][101]=a44;
  a04=1.3333333333333330e-01;
  a04=(a04*a31);
  if (res[5]!=0) res[5][102]=a04;
  if (res[5]!=0) res[5][103]=a44;
  if (res[5]!=0) res[5][104]=a44;
  if (res[5]!=0) res[5][105]=a44;
  if (res[5]!=0) res[5][106]=a44;
  if (res[5]!=0) res[5][107]=a44;
  if (res[5]!=0) res[5][108]=a44;
  if (res[5]!=0) res[5][109]=a44;
  if (res[5]!=0) res[5][110]=a44;
  if (res[5]!=0) res[5][111]=a44;
  if (res[5]!=0) res[5][112]=a44;
  if (res[5]!=0) res[5][113]=a44;
  if (res[5]!=0) res[5][114]=a44;
  if (res[5]!=0) res[5][115]=a44;
  if (res[5]!=0) res[5][116]=a44;
  if (res[5]!=0) res[5][117]=a44;
  if (res[5]!=0) res[5][118]=a44;
  if (res[5]!=0) res[5][119]=a04;
  if (res[5]!=0) res[5][120]=a44;
  if (res[5]!=0) res[5][121]=a44;
  if (res[5]!=0) res[5][122]=a44;
  if (res[5]!=0) res[5][123]=a44;
  if (res[5]!=0) res[5][124]=a44;
  if (res[5]!=0) res[5][125]=a44;
  if (res[5]!=0) res[5][126]=a44;
  if (res[5]!=0) res[5][127]=a44;
  if (res[5]!=0) res[5][128]=a44;
  if (res[5]!=0) res[5][129]=a44;
  if (res[5]!=0) res[5][130]=a44;
  if (res[5]!=0) res[5][131]=a44;
  if (res[5]!=0) res[5][132]=a44;
  if (res[5]!=0) res[5][133]=a44;
  if (res[5]!=0) res[5][134]=a44;
  if (res[5]!=0) res[5][135]=a44;
  if (res[5]!=0) res[5][136]=a04;
  if (res[5]!=0) res[5][137]=a44;
  if (res[5]!=0) res[5][138]=a44;
  if (res[5]!=0) res[5][139]=a44;
  if (res[5]!=0) res[5][140]=a44;
  if (res[5]!=0) res[5][141]=a44;
  if (res[5]!=0) res[5][142]=a44;
  if (res[5]!=0) res[5][143]=a44;
  a04=6.3245553203367583e-02;
  a04=(a04*a19);
  a22=3.1622776601683791e-02;
  a62=(a22*a61);
  a59=(a04*a62);
  if (res[6]!=0) res[6][0]=a59;
  a59=(a22*a66);
  a36=(a04*a59);
  if (res[6]!=0) res[6][1]=a36;
  a22=(a22*a14);
  a04=(a04*a22);
  if (res[6]!=0) res[6][2]=a04;
  a04=3.6514837167011072e+00;
  a04=(a04*a31);
  a36=5.4772255750516612e+00;
  a39=arg[9]? arg[9][0] : 0;
  a43=(a67-a39);
  a43=(a36*a43);
  a45=(a04*a43);
  a58=8.9442719099991592e+00;
  a58=(a58*a25);
  a12=4.4721359549995796e+00;
  a27=arg[3]? arg[3][0] : 0;
  a33=(a67-a27);
  a33=(a12*a33);
  a26=(a58*a33);
  a45=(a45+a26);
  if (res[6]!=0) res[6][3]=a45;
  a45=arg[9]? arg[9][1] : 0;
  a26=(a17-a45);
  a26=(a36*a26);
  a46=(a04*a26);
  a17=(a17-a27);
  a12=(a12*a17);
  a58=(a58*a12);
  a46=(a46+a58);
  if (res[6]!=0) res[6][4]=a46;
  a46=arg[9]? arg[9][2] : 0;
  a01=(a01-a46);
  a01=(a36*a01);
  a04=(a04*a01);
  if (res[6]!=0) res[6][5]=a04;
  a04=2.9814239699997191e-01;
  a04=(a04*a31);
  a58=4.4721359549995793e-01;
  a17=(a58*a30);
  a27=(a04*a17);
  if (res[6]!=0) res[6][6]=a27;
  a18=(a58*a18);
  a27=(a04*a18);
  if (res[6]!=0) res[6][7]=a27;
  a03=(a58*a03);
  a04=(a04*a03);
  if (res[6]!=0) res[6][8]=a04;
  if (res[6]!=0) res[6][9]=a44;
  if (res[6]!=0) res[6][10]=a44;
  if (res[6]!=0) res[6][11]=a44;
  if (res[6]!=0) res[6][12]=a44;
  if (res[6]!=0) res[6][13]=a44;
  if (res[6]!=0) res[6][14]=a44;
  if (res[6]!=0) res[6][15]=a44;
  a04=3.3333333333333331e-01;
  a04=(a04*a31);
  a43=casadi_sq(a43);
  a43=(a04*a43);
  a26=casadi_sq(a26);
  a26=(a04*a26);
  a43=(a43+a26);
  a01=casadi_sq(a01);
  a01=(a04*a01);
  a43=(a43+a01);
  a62=casadi_sq(a62);
  a62=(a19*a62);
  a43=(a43+a62);
  a59=casadi_sq(a59);
  a59=(a19*a59);
  a43=(a43+a59);
  a22=casadi_sq(a22);
  a22=(a19*a22);
  a43=(a43+a22);
  a17=casadi_sq(a17);
  a17=(a04*a17);
  a43=(a43+a17);
  a18=casadi_sq(a18);
  a18=(a04*a18);
  a43=(a43+a18);
  a03=casadi_sq(a03);
  a04=(a04*a03);
  a43=(a43+a04);
  a33=casadi_sq(a33);
  a33=(a25*a33);
  a43=(a43+a33);
  a12=casadi_sq(a12);
  a25=(a25*a12);
  a43=(a43+a25);
  if (res[7]!=0) res[7][0]=a43;
  if (res[8]!=0) res[8][0]=a44;
  if (res[8]!=0) res[8][1]=a44;
  if (res[8]!=0) res[8][2]=a44;
  if (res[8]!=0) res[8][3]=a44;
  if (res[8]!=0) res[8][4]=a44;
  if (res[8]!=0) res[8][5]=a44;
  if (res[8]!=0) res[8][6]=a15;
  if (res[8]!=0) res[8][7]=a44;
  if (res[8]!=0) res[8][8]=a44;
  if (res[8]!=0) res[8][9]=a44;
  if (res[8]!=0) res[8][10]=a44;
  if (res[8]!=0) res[8][11]=a44;
  if (res[8]!=0) res[8][12]=a44;
  if (res[8]!=0) res[8][13]=a44;
  if (res[8]!=0) res[8][14]=a44;
  if (res[8]!=0) res[8][15]=a44;
  a15=22.;
  a43=(a61+a15);
  a43=(-a43);
  if (res[9]!=0) res[9][0]=a43;
  a43=(a66+a15);
  a43=(-a43);
  if (res[9]!=0) res[9][1]=a43;
  a43=(a14+a15);
  a43=(-a43);
  if (res[9]!=0) res[9][2]=a43;
  a43=-casadi_inf;
  if (res[9]!=0) res[9][3]=a43;
  if (res[9]!=0) res[9][4]=a43;
  if (res[9]!=0) res[9][5]=a43;
  if (res[9]!=0) res[9][6]=a43;
  if (res[9]!=0) res[9][7]=a43;
  if (res[9]!=0) res[9][8]=a43;
  if (res[9]!=0) res[9][9]=a43;
  if (res[9]!=0) res[9][10]=a43;
  if (res[9]!=0) res[9][11]=a43;
  if (res[9]!=0) res[9][12]=a43;
  if (res[9]!=0) res[9][13]=a43;
  if (res[9]!=0) res[9][14]=a43;
  if (res[9]!=0) res[9][15]=a43;
  a25=1.0000000000000001e-01;
  a25=(a25-a30);
  a30=arg[5]? arg[5][2] : 0;
  a25=(a25-a30);
  if (res[9]!=0) res[9][16]=a25;
  if (res[9]!=0) res[9][17]=a43;
  if (res[9]!=0) res[9][18]=a43;
  if (res[9]!=0) res[9][19]=a43;
  if (res[9]!=0) res[9][20]=a43;
  if (res[9]!=0) res[9][21]=a43;
  if (res[9]!=0) res[9][22]=a43;
  if (res[9]!=0) res[9][23]=a43;
  a61=(a15-a61);
  if (res[10]!=0) res[10][0]=a61;
  a66=(a15-a66);
  if (res[10]!=0) res[10][1]=a66;
  a15=(a15-a14);
  if (res[10]!=0) res[10][2]=a15;
  a15=casadi_inf;
  if (res[10]!=0) res[10][3]=a15;
  if (res[10]!=0) res[10][4]=a15;
  if (res[10]!=0) res[10][5]=a15;
  if (res[10]!=0) res[10][6]=a15;
  if (res[10]!=0) res[10][7]=a15;
  if (res[10]!=0) res[10][8]=a15;
  if (res[10]!=0) res[10][9]=a15;
  if (res[10]!=0) res[10][10]=a15;
  if (res[10]!=0) res[10][11]=a15;
  if (res[10]!=0) res[10][12]=a15;
  if (res[10]!=0) res[10][13]=a15;
  if (res[10]!=0) res[10][14]=a15;
  if (res[10]!=0) res[10][15]=a15;
  a30=(a30+a15);
  if (res[10]!=0) res[10][16]=a30;
  if (res[10]!=0) res[10][17]=a15;
  if (res[10]!=0) res[10][18]=a15;
  if (res[10]!=0) res[10][19]=a15;
  if (res[10]!=0) res[10][20]=a15;
  if (res[10]!=0) res[10][21]=a15;
  if (res[10]!=0) res[10][22]=a15;
  if (res[10]!=0) res[10][23]=a15;
  if (res[11]!=0) res[11][0]=a44;
  if (res[11]!=0) res[11][1]=a44;
  if (res[11]!=0) res[11][2]=a44;
  if (res[11]!=0) res[11][3]=a36;
  if (res[11]!=0) res[11][4]=a44;
  if (res[11]!=0) res[11][5]=a44;
  a15=2.0539595906443728e-01;
  if (res[11]!=0) res[11][6]=a15;
  if (res[11]!=0) res[11][7]=a44;
  if (res[11]!=0) res[11][8]=a44;
  if (res[11]!=0) res[11][9]=a44;
  if (res[11]!=0) res[11][10]=a44;
  if (res[11]!=0) res[11][11]=a44;
  if (res[11]!=0) res[11][12]=a44;
  if (res[11]!=0) res[11][13]=a44;
  if (res[11]!=0) res[11][14]=a44;
  if (res[11]!=0) res[11][15]=a44;
  if (res[11]!=0) res[11][16]=a44;
  if (res[11]!=0) res[11][17]=a44;
  if (res[11]!=0) res[11][18]=a44;
  if (res[11]!=0) res[11][19]=a44;
  if (res[11]!=0) res[11][20]=a36;
  if (res[11]!=0) res[11][21]=a44;
  if (res[11]!=0) res[11][22]=a44;
  if (res[11]!=0) res[11][23]=a15;
  if (res[11]!=0) res[11][24]=a44;
  if (res[11]!=0) res[11][25]=a44;
  if (res[11]!=0) res[11][26]=a44;
  if (res[11]!=0) res[11][27]=a44;
  if (res[11]!=0) res[11][28]=a44;
  if (res[11]!=0) res[11][29]=a44;
  if (res[11]!=0) res[11][30]=a44;
  if (res[11]!=0) res[11][31]=a44;
  if (res[11]!=0) res[11][32]=a44;
  if (res[11]!=0) res[11][33]=a44;
  if (res[11]!=0) res[11][34]=a44;
  if (res[11]!=0) res[11][35]=a44;
  if (res[11]!=0) res[11][36]=a44;
  if (res[11]!=0) res[11][37]=a36;
  if (res[11]!=0) res[11][38]=a44;
  if (res[11]!=0) res[11][39]=a44;
  if (res[11]!=0) res[11][40]=a15;
  if (res[11]!=0) res[11][41]=a44;
  if (res[11]!=0) res[11][42]=a44;
  if (res[11]!=0) res[11][43]=a44;
  if (res[11]!=0) res[11][44]=a44;
  if (res[11]!=0) res[11][45]=a44;
  if (res[11]!=0) res[11][46]=a44;
  if (res[11]!=0) res[11][47]=a44;
  if (res[11]!=0) res[11][48]=a44;
  if (res[11]!=0) res[11][49]=a44;
  if (res[11]!=0) res[11][50]=a44;
  if (res[11]!=0) res[11][51]=a44;
  if (res[11]!=0) res[11][52]=a44;
  if (res[11]!=0) res[11][53]=a44;
  if (res[11]!=0) res[11][54]=a58;
  if (res[11]!=0) res[11][55]=a44;
  if (res[11]!=0) res[11][56]=a44;
  if (res[11]!=0) res[11][57]=a44;
  if (res[11]!=0) res[11][58]=a44;
  if (res[11]!=0) res[11][59]=a44;
  if (res[11]!=0) res[11][60]=a44;
  if (res[11]!=0) res[11][61]=a44;
  if (res[11]!=0) res[11][62]=a44;
  if (res[11]!=0) res[11][63]=a44;
  if (res[11]!=0) res[11][64]=a44;
  if (res[11]!=0) res[11][65]=a44;
  if (res[11]!=0) res[11][66]=a44;
  if (res[11]!=0) res[11][67]=a44;
  if (res[11]!=0) res[11][68]=a44;
  if (res[11]!=0) res[11][69]=a44;
  if (res[11]!=0) res[11][70]=a44;
  if (res[11]!=0) res[11][71]=a58;
  if (res[11]!=0) res[11][72]=a44;
  if (res[11]!=0) res[11][73]=a44;
  if (res[11]!=0) res[11][74]=a44;
  if (res[11]!=0) res[11][75]=a44;
  if (res[11]!=0) res[11][76]=a44;
  if (res[11]!=0) res[11][77]=a44;
  if (res[11]!=0) res[11][78]=a44;
  if (res[11]!=0) res[11][79]=a44;
  if (res[11]!=0) res[11][80]=a44;
  if (res[11]!=0) res[11][81]=a44;
  if (res[11]!=0) res[11][82]=a44;
  if (res[11]!=0) res[11][83]=a44;
  if (res[11]!=0) res[11][84]=a44;
  if (res[11]!=0) res[11][85]=a44;
  if (res[11]!=0) res[11][86]=a44;
  if (res[11]!=0) res[11][87]=a44;
  if (res[11]!=0) res[11][88]=a58;
  if (res[11]!=0) res[11][89]=a44;
  if (res[11]!=0) res[11][90]=a44;
  if (res[11]!=0) res[11][91]=a44;
  if (res[11]!=0) res[11][92]=a44;
  if (res[11]!=0) res[11][93]=a44;
  if (res[11]!=0) res[11][94]=a44;
  if (res[11]!=0) res[11][95]=a44;
  a02=(a02*a32);
  a67=(a67+a02);
  a02=5.0000000000000000e-01;
  a39=(a02*a39);
  a44=arg[10]? arg[10][0] : 0;
  a44=(a02*a44);
  a39=(a39+a44);
  a67=(a67-a39);
  a67=(a36*a67);
  if (res[12]!=0) res[12][0]=a67;
  a45=(a02*a45);
  a67=arg[10]? arg[10][1] : 0;
  a67=(a02*a67);
  a45=(a45+a67);
  a21=(a21-a45);
  a21=(a36*a21);
  if (res[12]!=0) res[12][1]=a21;
  a46=(a02*a46);
  a21=arg[10]? arg[10][2] : 0;
  a02=(a02*a21);
  a46=(a46+a02);
  a06=(a06-a46);
  a36=(a36*a06);
  if (res[12]!=0) res[12][2]=a36;
  a32=(a58*a32);
  if (res[12]!=0) res[12][3]=a32;
  a20=(a58*a20);
  if (res[12]!=0) res[12][4]=a20;
  a58=(a58*a05);
  if (res[12]!=0) res[12][5]=a58;
  a58=6.6666666666666663e-01;
  a58=(a58*a19);
  if (res[13]!=0) res[13][0]=a58;
  if (res[13]!=0) res[13][1]=a58;
  if (res[13]!=0) res[13][2]=a58;
  if (res[13]!=0) res[13][3]=a58;
  if (res[13]!=0) res[13][4]=a58;
  if (res[13]!=0) res[13][5]=a58;
  a58=2.8124999999999999e-03;
  if (res[14]!=0) res[14][0]=a58;
  if (res[14]!=0) res[14][1]=a00;
  if (res[14]!=0) res[14][2]=a58;
  if (res[14]!=0) res[14][3]=a00;
  if (res[14]!=0) res[14][4]=a58;
  if (res[14]!=0) res[14][5]=a00;
  a00=7.7023484649163974e-03;
  if (res[15]!=0) res[15][0]=a00;
  a58=1.6770509831248420e-02;
  if (res[15]!=0) res[15][1]=a58;
  if (res[15]!=0) res[15][2]=a00;
  if (res[15]!=0) res[15][3]=a58;
  if (res[15]!=0) res[15][4]=a00;
  if (res[15]!=0) res[15][5]=a58;
  return 0;
}

CASADI_SYMBOL_EXPORT int tick_stage_1_of_one(const casadi_real** arg, casadi_real** res, casadi_int* iw, casadi_real* w, int mem){
  return casadi_f0(arg, res, iw, w, mem);
}

CASADI_SYMBOL_EXPORT int tick_stage_1_of_one_checkout(void) {
  return 0;
}

CASADI_SYMBOL_EXPORT void tick_stage_1_of_one_release(int mem) {
}

CASADI_SYMBOL_EXPORT void tick_stage_1_of_one_incref(void) {
}

CASADI_SYMBOL_EXPORT void tick_stage_1_of_one_decref(void) {
}

CASADI_SYMBOL_EXPORT casadi_int tick_stage_1_of_one_n_in(void) { return 12;}

CASADI_SYMBOL_EXPORT casadi_int tick_stage_1_of_one_n_out(void) { return 16;}

CASADI_SYMBOL_EXPORT casadi_real tick_stage_1_of_one_default_in(casadi_int i) {
  switch (i) {
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const char* tick_stage_1_of_one_name_in(casadi_int i) {
  switch (i) {
    case 0: return "i0";
    case 1: return "i1";
    case 2: return "i2";
    case 3: return "i3";
    case 4: return "i4";
    case 5: return "i5";
    case 6: return "i6";
    case 7: return "i7";
    case 8: return "i8";
    case 9: return "i9";
    case 10: return "i10";
    case 11: return "i11";
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const char* tick_stage_1_of_one_name_out(casadi_int i) {
  switch (i) {
    case 0: return "o0";
    case 1: return "o1";
    case 2: return "o2";
    case 3: return "o3";
    case 4: return "o4";
    case 5: return "o5";
    case 6: return "o6";
    case 7: return "o7";
    case 8: return "o8";
    case 9: return "o9";
    case 10: return "o10";
    case 11: return "o11";
    case 12: return "o12";
    case 13: return "o13";
    case 14: return "o14";
    case 15: return "o15";
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const casadi_int* tick_stage_1_of_one_sparsity_in(casadi_int i) {
  switch (i) {
    case 0: return casadi_s0;
    case 1: return casadi_s1;
    case 2: return casadi_s1;
    case 3: return casadi_s2;
    case 4: return casadi_s3;
    case 5: return casadi_s3;
    case 6: return casadi_s0;
    case 7: return casadi_s4;
    case 8: return casadi_s4;
    case 9: return casadi_s1;
    case 10: return casadi_s1;
    case 11: return casadi_s0;
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const casadi_int* tick_stage_1_of_one_sparsity_out(casadi_int i) {
  switch (i) {
    case 0: return casadi_s5;
    case 1: return casadi_s6;
    case 2: return casadi_s1;
    case 3: return casadi_s7;
    case 4: return casadi_s0;
    case 5: return casadi_s8;
    case 6: return casadi_s9;
    case 7: return casadi_s2;
    case 8: return casadi_s9;
    case 9: return casadi_s10;
    case 10: return casadi_s10;
    case 11: return casadi_s7;
    case 12: return casadi_s0;
    case 13: return casadi_s0;
    case 14: return casadi_s0;
    case 15: return casadi_s0;
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT int tick_stage_1_of_one_work(casadi_int *sz_arg, casadi_int* sz_res, casadi_int *sz_iw, casadi_int *sz_w) {
  if (sz_arg) *sz_arg = 12;
  if (sz_res) *sz_res = 16;
  if (sz_iw) *sz_iw = 0;
  if (sz_w) *sz_w = 0;
  return 0;
}

CASADI_SYMBOL_EXPORT int tick_stage_1_of_one_work_bytes(casadi_int *sz_arg, casadi_int* sz_res, casadi_int *sz_iw, casadi_int *sz_w) {
  if (sz_arg) *sz_arg = 12*sizeof(const casadi_real*);
  if (sz_res) *sz_res = 16*sizeof(casadi_real*);
  if (sz_iw) *sz_iw = 0*sizeof(casadi_int);
  if (sz_w) *sz_w = 0*sizeof(casadi_real);
  return 0;
}




static int64_t tick_stage_1(const int64_t* task) {
  static double w[76];
  static casadi_int iw[1];
  const double* arg[12];
  double* res[16];
  for (int64_t k = 0; k < task[0]; ++k) {
    for (int i = 0; i < 12; ++i) arg[i] = (const double*) (intptr_t) task[3 * i + 1] + k * task[3 * i + 2];
    for (int i = 0; i < 16; ++i) {
      const int64_t* place = task + 3 * (12 + i) + 1;
      res[i] = (double*) (intptr_t) place[0] + k * place[1];
    }
    if (tick_stage_1_of_one(arg, res, iw, w, 0)) return k + 1;
  }
  return 0;
}

static int64_t ports_stage_1[56];
#undef CASADI_PREFIX
/* How to prefix internal symbols */
#ifdef CASADI_CODEGEN_PREFIX
  #define CASADI_NAMESPACE_CONCAT(NS, ID) _CASADI_NAMESPACE_CONCAT(NS, ID)
  #define _CASADI_NAMESPACE_CONCAT(NS, ID) NS ## ID
  #define CASADI_PREFIX(ID) CASADI_NAMESPACE_CONCAT(CODEGEN_PREFIX, ID)
#else
  #define CASADI_PREFIX(ID) tick_stage_2_ ## ID
#endif

#include <math.h>

#ifndef casadi_real
#define casadi_real double
#endif

#ifndef casadi_int
#define casadi_int long long int
#endif

/* Add prefix to internal symbols */
#define casadi_f0 CASADI_PREFIX(f0)
#define casadi_s0 CASADI_PREFIX(s0)
#define casadi_s1 CASADI_PREFIX(s1)
#define casadi_s10 CASADI_PREFIX(s10)
#define casadi_s2 CASADI_PREFIX(s2)
#define casadi_s3 CASADI_PREFIX(s3)
#define casadi_s4 CASADI_PREFIX(s4)
#define casadi_s5 CASADI_PREFIX(s5)
#define casadi_s6 CASADI_PREFIX(s6)
#define casadi_s7 CASADI_PREFIX(s7)
#define casadi_s8 CASADI_PREFIX(s8)
#define casadi_s9 CASADI_PREFIX(s9)
#define casadi_sq CASADI_PREFIX(sq)

/* Symbol visibility in DLLs */
#ifndef CASADI_SYMBOL_EXPORT
  #if defined(_WIN32) || defined(__WIN32__) || defined(__CYGWIN__)
    #if defined(STATIC_LINKED)
      #define CASADI_SYMBOL_EXPORT
    #else
      #define CASADI_SYMBOL_EXPORT __declspec(dllexport)
    #endif
  #elif defined(__GNUC__) && defined(GCC_HASCLASSVISIBILITY)
    #define CASADI_SYMBOL_EXPORT __attribute__ ((visibility ("default")))
  #else
    #define CASADI_SYMBOL_EXPORT
  #endif
#endif

casadi_real casadi_sq(casadi_real x) { return x*x;}

#ifndef casadi_inf
  #define casadi_inf INFINITY
#endif

/* Configuration this file was compiled with */
CASADI_SYMBOL_EXPORT void tick_stage_2_casadi_version(int* major, int* minor, int* patch) {
  *major = 3;
  *minor = 8;
  *patch = 2;
}
CASADI_SYMBOL_EXPORT int tick_stage_2_casadi_int_size(void) { return (int) sizeof(casadi_int); }
CASADI_SYMBOL_EXPORT int tick_stage_2_casadi_real_size(void) { return (int) sizeof(casadi_real); }

static const casadi_int casadi_s0[3] = {6, 1, 1};
static const casadi_int casadi_s1[3] = {3, 1, 1};
static const casadi_int casadi_s2[3] = {1, 1, 1};
static const casadi_int casadi_s3[3] = {5, 1, 1};
static const casadi_int casadi_s4[3] = {0, 1, 1};
static const casadi_int casadi_s5[3] = {9, 1, 1};
static const casadi_int casadi_s6[3] = {48, 1, 1};
static const casadi_int casadi_s7[3] = {96, 1, 1};
static const casadi_int casadi_s8[3] = {144, 1, 1};
static const casadi_int casadi_s9[3] = {16, 1, 1};
static const casadi_int casadi_s10[3] = {24, 1, 1};

/* tick_stage_2_of_one:(i0[6],i1[3],i2[3],i3,i4[5],i5[5],i6[6],i7[0],i8[0],i9[3],i10[3],i11[6])->(o0[9],o1[48],o2[3],o3[96],o4[6],o5[144],o6[16],o7,o8[16],o9[24],o10[24],o11[96],o12[6],o13[6]) */
static int casadi_f0(const casadi_real** arg, casadi_real** res, casadi_int* iw, casadi_real* w, int mem) {
  casadi_real a00, a01, a02, a03, a04, a05, a06, a07, a08, a09, a10, a11;
  a00=1.;
  if (res[0]!=0) res[0][0]=a00;
  a01=0.;
  if (res[0]!=0) res[0][1]=a01;
  if (res[0]!=0) res[0][2]=a01;
  if (res[0]!=0) res[0][3]=a01;
  if (res[0]!=0) res[0][4]=a00;
  if (res[0]!=0) res[0][5]=a01;
  if (res[0]!=0) res[0][6]=a01;
  if (res[0]!=0) res[0][7]=a01;
  if (res[0]!=0) res[0][8]=a00;
  if (res[1]!=0) res[1][0]=a01;
  if (res[1]!=0) res[1][1]=a01;
  if (res[1]!=0) res[1][2]=a01;
  if (res[1]!=0) res[1][3]=a01;
  if (res[1]!=0) res[1][4]=a01;
  if (res[1]!=0) res[1][5]=a01;
  if (res[1]!=0) res[1][6]=a01;
  if (res[1]!=0) res[1][7]=a01;
  if (res[1]!=0) res[1][8]=a01;
  if (res[1]!=0) res[1][9]=a01;
  if (res[1]!=0) res[1][10]=a01;
  if (res[1]!=0) res[1][11]=a01;
  if (res[1]!=0) res[1][12]=a01;
  if (res[1]!=0) res[1][13]=a01;
  if (res[1]!=0) res[1][14]=a01;
  if (res[1]!=0) res[1][15]=a01;
  if (res[1]!=0) res[1][16]=a01;
  if (res[1]!=0) res[1][17]=a01;
  if (res[1]!=0) res[1][18]=a01;
  if (res[1]!=0) res[1][19]=a01;
  if (res[1]!=0) res[1][20]=a01;
  if (res[1]!=0) res[1][21]=a01;
  if (res[1]!=0) res[1][22]=a01;
  if (res[1]!=0) res[1][23]=a01;
  if (res[1]!=0) res[1][24]=a01;
  if (res[1]!=0) res[1][25]=a01;
  if (res[1]!=0) res[1][26]=a01;
  if (res[1]!=0) res[1][27]=a01;
  if (res[1]!=0) res[1][28]=a01;
  if (res[1]!=0) res[1][29]=a01;
  if (res[1]!=0) res[1][30]=a01;
  if (res[1]!=0) res[1][31]=a01;
  if (res[1]!=0) res[1][32]=a01;
  if (res[1]!=0) res[1][33]=a01;
  if (res[1]!=0) res[1][34]=a01;
  if (res[1]!=0) res[1][35]=a01;
  if (res[1]!=0) res[1][36]=a01;
  if (res[1]!=0) res[1][37]=a01;
  if (res[1]!=0) res[1][38]=a01;
  if (res[1]!=0) res[1][39]=a01;
  if (res[1]!=0) res[1][40]=a01;
  if (res[1]!=0) res[1][41]=a01;
  if (res[1]!=0) res[1][42]=a01;
  if (res[1]!=0) res[1][43]=a01;
  if (res[1]!=0) res[1][44]=a01;
  if (res[1]!=0) res[1][45]=a01;
  if (res[1]!=0) res[1][46]=a01;
  if (res[1]!=0) res[1][47]=a01;
  a02=arg[2]? arg[2][0] : 0;
  a02=(-a02);
  if (res[2]!=0) res[2][0]=a02;
  a02=arg[2]? arg[2][1] : 0;
  a02=(-a02);
  if (res[2]!=0) res[2][1]=a02;
  a02=arg[2]? arg[2][2] : 0;
  a02=(-a02);
  if (res[2]!=0) res[2][2]=a02;
  if (res[3]!=0) res[3][0]=a01;
  if (res[3]!=0) res[3][1]=a01;
  if (res[3]!=0) res[3][2]=a01;
  if (res[3]!=0) res[3][3]=a00;
  if (res[3]!=0) res[3][4]=a01;
  if (res[3]!=0) res[3][5]=a01;
  if (res[3]!=0) res[3][6]=a01;
  if (res[3]!=0) res[3][7]=a01;
  if (res[3]!=0) res[3][8]=a01;
  if (res[3]!=0) res[3][9]=a01;
  if (res[3]!=0) res[3][10]=a01;
  if (res[3]!=0) res[3][11]=a01;
  if (res[3]!=0) res[3][12]=a01;
  if (res[3]!=0) res[3][13]=a01;
  if (res[3]!=0) res[3][14]=a01;
  if (res[3]!=0) res[3][15]=a01;
  if (res[3]!=0) res[3][16]=a01;
  if (res[3]!=0) res[3][17]=a01;
  if (res[3]!=0) res[3][18]=a01;
  if (res[3]!=0) res[3][19]=a01;
  if (res[3]!=0) res[3][20]=a00;
  if (res[3]!=0) res[3][21]=a01;
  if (res[3]!=0) res[3][22]=a01;
  if (res[3]!=0) res[3][23]=a01;
  if (res[3]!=0) res[3][24]=a01;
  if (res[3]!=0) res[3][25]=a01;
  if (res[3]!=0) res[3][26]=a01;
  if (res[3]!=0) res[3][27]=a01;
  if (res[3]!=0) res[3][28]=a01;
  if (res[3]!=0) res[3][29]=a01;
  if (res[3]!=0) res[3][30]=a01;
  if (res[3]!=0) res[3][31]=a01;
  if (res[3]!=0) res[3][32]=a01;
  if (res[3]!=0) res[3][33]=a01;
  if (res[3]!=0) res[3][34]=a01;
  if (res[3]!=0) res[3][35]=a01;
  if (res[3]!=0) res[3][36]=a01;
  if (res[3]!=0) res[3][37]=a00;
  if (res[3]!=0) res[3][38]=a01;
  if (res[3]!=0) res[3][39]=a01;
  if (res[3]!=0) res[3][40]=a01;
  if (res[3]!=0) res[3][41]=a01;
  if (res[3]!=0) res[3][42]=a01;
  if (res[3]!=0) res[3][43]=a01;
  if (res[3]!=0) res[3][44]=a01;
  if (res[3]!=0) res[3][45]=a01;
  if (res[3]!=0) res[3][46]=a01;
  if (res[3]!=0) res[3][47]=a01;
  if (res[3]!=0) res[3][48]=a01;
  if (res[3]!=0) res[3][49]=a01;
  if (res[3]!=0) res[3][50]=a01;
  if (res[3]!=0) res[3][51]=a01;
  if (res[3]!=0) res[3][52]=a01;
  if (res[3]!=0) res[3][53]=a01;
  if (res[3]!=0) res[3][54]=a00;
  if (res[3]!=0) res[3][55]=a01;
  if (res[3]!=0) res[3][56]=a01;
  if (res[3]!=0) res[3][57]=a01;
  if (res[3]!=0) res[3][58]=a01;
  if (res[3]!=0) res[3][59]=a01;
  if (res[3]!=0) res[3][60]=a01;
  if (res[3]!=0) res[3][61]=a01;
  if (res[3]!=0) res[3][62]=a01;
  if (res[3]!=0) res[3][63]=a01;
  if (res[3]!=0) res[3][64]=a01;
  if (res[3]!=0) res[3][65]=a01;
  if (res[3]!=0) res[3][66]=a01;
  if (res[3]!=0) res[3][67]=a01;
  if (res[3]!=0) res[3][68]=a01;
  if (res[3]!=0) res[3][69]=a01;
  if (res[3]!=0) res[3][70]=a01;
  if (res[3]!=0) res[3][71]=a00;
  if (res[3]!=0) res[3][72]=a01;
  if (res[3]!=0) res[3][73]=a01;
  if (res[3]!=0) res[3][74]=a01;
  if (res[3]!=0) res[3][75]=a01;
  if (res[3]!=0) res[3][76]=a01;
  if (res[3]!=0) res[3][77]=a01;
  if (res[3]!=0) res[3][78]=a01;
  if (res[3]!=0) res[3][79]=a01;
  if (res[3]!=0) res[3][80]=a01;
  if (res[3]!=0) res[3][81]=a01;
  if (res[3]!=0) res[3][82]=a01;
  if (res[3]!=0) res[3][83]=a01;
  if (res[3]!=0) res[3][84]=a01;
  if (res[3]!=0) res[3][85]=a01;
  if (res[3]!=0) res[3][86]=a01;
  if (res[3]!=0) res[3][87]=a01;
  if (res[3]!=0) res[3][88]=a00;
  if (res[3]!=0) res[3][89]=a01;
  if (res[3]!=0) res[3][90]=a01;
  if (res[3]!=0) res[3][91]=a01;
  if (res[3]!=0) res[3][92]=a01;
  if (res[3]!=0) res[3][93]=a01;
  if (res[3]!=0) res[3][94]=a01;
  if (res[3]!=0) res[3][95]=a01;
  a02=arg[0]? arg[0][0] : 0;
  a03=arg[11]? arg[11][0] : 0;
  a03=(a02-a03);
  if (res[4]!=0) res[4][0]=a03;
  a03=arg[0]? arg[0][1] : 0;
  a04=arg[11]? arg[11][1] : 0;
  a04=(a03-a04);
  if (res[4]!=0) res[4][1]=a04;
  a04=arg[0]? arg[0][2] : 0;
  a05=arg[11]? arg[11][2] : 0;
  a05=(a04-a05);
  if (res[4]!=0) res[4][2]=a05;
  a05=arg[0]? arg[0][3] : 0;
  a06=arg[11]? arg[11][3] : 0;
  a06=(a05-a06);
  if (res[4]!=0) res[4][3]=a06;
  a06=arg[0]? arg[0][4] : 0;
  a07=arg[11]? arg[11][4] : 0;
  a07=(a06-a07);
  if (res[4]!=0) res[4][4]=a07;
  a07=arg[0]? arg[0][5] : 0;
  a08=arg[11]? arg[11][5] : 0;
  a08=(a07-a08);
  if (res[4]!=0) res[4][5]=a08;
  if (res[5]!=0) res[5][0]=a00;
  if (res[5]!=0) res[5][1]=a01;
  if (res[5]!=0) res[5][2]=a01;
  if (res[5]!=0) res[5][3]=a01;
  if (res[5]!=0) res[5][4]=a01;
  if (res[5]!=0) res[5][5]=a01;
  if (res[5]!=0) res[5][6]=a01;
  if (res[5]!=0) res[5][7]=a01;
  if (res[5]!=0) res[5][8]=a01;
  if (res[5]!=0) res[5][9]=a01;
  if (res[5]!=0) res[5][10]=a01;
  if (res[5]!=0) res[5][11]=a01;
  if (res[5]!=0) res[5][12]=a01;
  if (res[5]!=0) res[5][13]=a01;
  if (res[5]!=0) res[5][14]=a01;
  if (res[5]!=0) res[5][15]=a01;
  if (res[5]!=0) res[5][16]=a01;
  if (res[5]!=0) res[5][17]=a00;
  if (res[5]!=0) res[5][18]=a01;
  if (res[5]!=0) res[5][19]=a01;
  if (res[5]!=0) res[5][20]=a01;
  if (res[5]!=0) res[5][21]=a01;
  if (res[5]!=0) res[5][22]=a01;
  if (res[5]!=0) res[5][23]=a01;
  if (res[5]!=0) res[5][24]=a01;
  if (res[5]!=0) res[5][25]=a01;
  if (res[5]!=0) res[5][26]=a01;
  if (res[5]!=0) res[5][27]=a01;
  if (res[5]!=0) res[5][28]=a01;
  if (res[5]!=0) res[5][29]=a01;
  if (res[5]!=0) res[5][30]=a01;
  if (res[5]!=0) res[5][31]=a01;
  if (res[5]!=0) res[5][32]=a01;
  if (res[5]!=0) res[5][33]=a01;
  if (res[5]!=0) res[5][34]=a00;
  if (res[5]!=0) res[5][35]=a01;
  if (res[5]!=0) res[5][36]=a01;
  if (res[5]!=0) res[5][37]=a01;
  if (res[5]!=0) res[5][38]=a01;
  if (res[5]!=0) res[5][39]=a01;
  if (res[5]!=0) res[5][40]=a01;
  if (res[5]!=0) res[5][41]=a01;
  if (res[5]!=0) res[5][42]=a01;
  if (res[5]!=0) res[5][43]=a01;
  if (res[5]!=0) res[5][44]=a01;
  if (res[5]!=0) res[5][45]=a01;
  if (res[5]!=0) res[5][46]=a01;
  if (res[5]!=0) res[5][47]=a01;
  if (res[5]!=0) res[5][48]=a01;
  if (res[5]!=0) res[5][49]=a01;
  if (res[5]!=0) res[5][50]=a01;
  if (res[5]!=0) res[5][51]=a01;
  if (res[5]!=0) res[5][52]=a01;
  if (res[5]!=0) res[5][53]=a01;
  if (res[5]!=0) res[5][54]=a01;
  if (res[5]!=0) res[5][55]=a01;
  if (res[5]!=0) res[5][56]=a01;
  if (res[5]!=0) res[5][57]=a01;
  if (res[5]!=0) res[5][58]=a01;
  if (res[5]!=0) res[5][59]=a01;
  if (res[5]!=0) res[5][60]=a01;
  if (res[5]!=0) res[5][61]=a01;
  if (res[5]!=0) res[5][62]=a01;
  if (res[5]!=0) res[5][63]=a01;
  if (res[5]!=0) res[5][64]=a01;
  if (res[5]!=0) res[5][65]=a01;
  if (res[5]!=0) res[5][66]=a01;
  if (res[5]!=0) res[5][67]=a01;
  if (res[5]!=0) res[5][68]=a01;
  if (res[5]!=0) res[5][69]=a01;
  if (res[5]!=0) res[5][70]=a01;
  if (res[5]!=0) res[5][71]=a01;
  if (res[5]!=0) res[5][72]=a01;
  if (res[5]!=0) res[5][73]=a01;
  if (res[5]!=0) res[5][74]=a01;
  if (res[5]!=0) res[5][75]=a01;
  if (res[5]!=0) res[5][76]=a01;
  if (res[5]!=0) res[5][77]=a01;
  if (res[5]!=0) res[5][78]=a01;
  if (res[5]!=0) res[5][79]=a01;
  if (res[5]!=0) res[5][80]=a01;
  if (res[5]!=0) res[5][81]=a01;
  if (res[5]!=0) res[5][82]=a01;
  if (res[5]!=0) res[5][83]=a01;
  if (res[5]!=0) res[5][84]=a01;
  if (res[5]!=0) res[5][85]=a01;
  if (res[5]!=0) res[5][86]=a01;
  if (res[5]!=0) res[5][87]=a01;
  if (res[5]!=0) res[5][88]=a01;
  if (res[5]!=0) res[5][89]=a01;
  if (res[5]!=0) res[5][90]=a01;
  if (res[5]!=0) res[5][91]=a01;
  if (res[5]!=0) res[5][92]=a01;
  if (res[5]!=0) res[5][93]=a01;
  if (res[5]!=0) res[5][94]=a01;
  if (res[5]!=0) res[5][95]=a01;
  if (res[5]!=0) res[5][96]=a01;
  if (res[5]!=0) res[5][97]=a01;
  if (res[5]!=0) res[5][98]=a01;
  if (res[5]!=0) res[5][99]=a01;
  if (res[5]!=0) res[5][100]=a01;
  if (res[5]!=0) res[5][101]=a01;
  a08=6.6666666666666666e-02;
  a09=arg[4]? arg[4][3] : 0;
  a08=(a08*a09);
  if (res[5]!=0) res[5][102]=a08;
  if (res[5]!=0) res[5][103]=a01;
  if (res[5]!=0) res[5][104]=a01;
  if (res[5]!=0) res[5][105]=a01;
  if (res[5]!=0) res[5][106]=a01;
  if (res[5]!=0) res[5][107]=a01;
  if (res[5]!=0) res[5][108]=a01;
  if (res[5]!=0) res[5][109]=a01;
  if (res[5]!=0) res[5][110]=a01;
  if (res[5]!=0) res[5][111]=a01;
  if (res[5]!=0) res[5][112]=a01;
  if (res[5]!=0) res[5][113]=a01;
  if (res[5]!=0) res[5][114]=a01;
  if (res[5]!=0) res[5][115]=a01;
  if (res[5]!=0) res[5][116]=a01;
  if (res[5]!=0) res[5][117]=a01;
  if (res[5]!=0) res[5][118]=a01;
  if (res[5]!=0) res[5][119]=a08;
  if (res[5]!=0) res[5][120]=a01;
  if (res[5]!=0) res[5][121]=a01;
  if (res[5]!=0) res[5][122]=a01;
  if (res[5]!=0) res[5][123]=a01;
  if (res[5]!=0) res[5][124]=a01;
  if (res[5]!=0) res[5][125]=a01;
  if (res[5]!=0) res[5][126]=a01;
  if (res[5]!=0) res[5][127]=a01;
  if (res[5]!=0) res[5][128]=a01;
  if (res[5]!=0) res[5][129]=a01;
  if (res[5]!=0) res[5][130]=a01;
  if (res[5]!=0) res[5][131]=a01;
  if (res[5]!=0) res[5][132]=a01;
  if (res[5]!=0) res[5][133]=a01;
  if (res[5]!=0) res[5][134]=a01;
  if (res[5]!=0) res[5][135]=a01;
  if (res[5]!=0) res[5][136]=a08;
  if (res[5]!=0) res[5][137]=a01;
  if (res[5]!=0) res[5][138]=a01;
  if (res[5]!=0) res[5][139]=a01;
  if (res[5]!=0) res[5][140]=a01;
  if (res[5]!=0) res[5][141]=a01;
  if (res[5]!=0) res[5][142]=a01;
  if (res[5]!=0) res[5][143]=a01;
  if (res[6]!=0) res[6][0]=a01;
  if (res[6]!=0) res[6][1]=a01;
  if (res[6]!=0) res[6][2]=a01;
  if (res[6]!=0) res[6][3]=a01;
  if (res[6]!=0) res[6][4]=a01;
  if (res[6]!=0) res[6][5]=a01;
  a08=2.1081851067789195e-01;
  a08=(a08*a09);
  a10=3.1622776601683794e-01;
  a05=(a10*a05);
  a11=(a08*a05);
  if (res[6]!=0) res[6][6]=a11;
  a06=(a10*a06);
  a11=(a08*a06);
  if (res[6]!=0) res[6][7]=a11;
  a10=(a10*a07);
  a08=(a08*a10);
  if (res[6]!=0) res[6][8]=a08;
  if (res[6]!=0) res[6][9]=a01;
  if (res[6]!=0) res[6][10]=a01;
  if (res[6]!=0) res[6][11]=a01;
  if (res[6]!=0) res[6][12]=a01;
  if (res[6]!=0) res[6][13]=a01;
  if (res[6]!=0) res[6][14]=a01;
  if (res[6]!=0) res[6][15]=a01;
  a08=3.3333333333333331e-01;
  a08=(a08*a09);
  a05=casadi_sq(a05);
  a05=(a08*a05);
  a06=casadi_sq(a06);
  a06=(a08*a06);
  a05=(a05+a06);
  a10=casadi_sq(a10);
  a08=(a08*a10);
  a05=(a05+a08);
  if (res[7]!=0) res[7][0]=a05;
  if (res[8]!=0) res[8][0]=a01;
  if (res[8]!=0) res[8][1]=a01;
  if (res[8]!=0) res[8][2]=a01;
  a05=-1.;
  if (res[8]!=0) res[8][3]=a05;
  if (res[8]!=0) res[8][4]=a00;
  if (res[8]!=0) res[8][5]=a01;
  if (res[8]!=0) res[8][6]=a01;
  if (res[8]!=0) res[8][7]=a01;
  if (res[8]!=0) res[8][8]=a01;
  if (res[8]!=0) res[8][9]=a01;
  if (res[8]!=0) res[8][10]=a01;
  if (res[8]!=0) res[8][11]=a01;
  if (res[8]!=0) res[8][12]=a01;
  if (res[8]!=0) res[8][13]=a01;
  if (res[8]!=0) res[8][14]=a01;
  if (res[8]!=0) res[8][15]=a01;
  a00=-casadi_inf;
  if (res[9]!=0) res[9][0]=a00;
  if (res[9]!=0) res[9][1]=a00;
  if (res[9]!=0) res[9][2]=a00;
  a05=arg[6]? arg[6][0] : 0;
  a05=(a05-a02);
  a08=arg[5]? arg[5][0] : 0;
  a10=(a05-a08);
  if (res[9]!=0) res[9][3]=a10;
  a10=arg[6]? arg[6][1] : 0;
  a10=(a10-a03);
  a06=(a10-a08);
  if (res[9]!=0) res[9][4]=a06;
  a06=arg[6]? arg[6][2] : 0;
  a06=(a06-a04);
  a04=(a06-a08);
  if (res[9]!=0) res[9][5]=a04;
  if (res[9]!=0) res[9][6]=a00;
  if (res[9]!=0) res[9][7]=a00;
  if (res[9]!=0) res[9][8]=a00;
  if (res[9]!=0) res[9][9]=a00;
  if (res[9]!=0) res[9][10]=a00;
  if (res[9]!=0) res[9][11]=a00;
  if (res[9]!=0) res[9][12]=a00;
  if (res[9]!=0) res[9][13]=a00;
  if (res[9]!=0) res[9][14]=a00;
  if (res[9]!=0) res[9][15]=a00;
  a04=-2.0000000000000000e-02;
  a03=(a03-a02);
  a04=(a04-a03);
  if (res[9]!=0) res[9][16]=a04;
  if (res[9]!=0) res[9][17]=a00;
  if (res[9]!=0) res[9][18]=a00;
  if (res[9]!=0) res[9][19]=a00;
  if (res[9]!=0) res[9][20]=a00;
  if (res[9]!=0) res[9][21]=a00;
  if (res[9]!=0) res[9][22]=a00;
  if (res[9]!=0) res[9][23]=a00;
  a00=casadi_inf;
  if (res[10]!=0) res[10][0]=a00;
  if (res[10]!=0) res[10][1]=a00;
  if (res[10]!=0) res[10][2]=a00;
  a05=(a05+a08);
  if (res[10]!=0) res[10][3]=a05;
  a10=(a10+a08);
  if (res[10]!=0) res[10][4]=a10;
  a06=(a06+a08);
  if (res[10]!=0) res[10][5]=a06;
  if (res[10]!=0) res[10][6]=a00;
  if (res[10]!=0) res[10][7]=a00;
  if (res[10]!=0) res[10][8]=a00;
  if (res[10]!=0) res[10][9]=a00;
  if (res[10]!=0) res[10][10]=a00;
  if (res[10]!=0) res[10][11]=a00;
  if (res[10]!=0) res[10][12]=a00;
  if (res[10]!=0) res[10][13]=a00;
  if (res[10]!=0) res[10][14]=a00;
  if (res[10]!=0) res[10][15]=a00;
  a06=2.0000000000000001e-01;
  a06=(a06-a03);
  if (res[10]!=0) res[10][16]=a06;
  if (res[10]!=0) res[10][17]=a00;
  if (res[10]!=0) res[10][18]=a00;
  if (res[10]!=0) res[10][19]=a00;
  if (res[10]!=0) res[10][20]=a00;
  if (res[10]!=0) res[10][21]=a00;
  if (res[10]!=0) res[10][22]=a00;
  if (res[10]!=0) res[10][23]=a00;
  if (res[11]!=0) res[11][0]=a01;
  if (res[11]!=0) res[11][1]=a01;
  if (res[11]!=0) res[11][2]=a01;
  if (res[11]!=0) res[11][3]=a01;
  if (res[11]!=0) res[11][4]=a01;
  if (res[11]!=0) res[11][5]=a01;
  if (res[11]!=0) res[11][6]=a01;
  if (res[11]!=0) res[11][7]=a01;
  if (res[11]!=0) res[11][8]=a01;
  if (res[11]!=0) res[11][9]=a01;
  if (res[11]!=0) res[11][10]=a01;
  if (res[11]!=0) res[11][11]=a01;
  if (res[11]!=0) res[11][12]=a01;
  if (res[11]!=0) res[11][13]=a01;
  if (res[11]!=0) res[11][14]=a01;
  if (res[11]!=0) res[11][15]=a01;
  if (res[11]!=0) res[11][16]=a01;
  if (res[11]!=0) res[11][17]=a01;
  if (res[11]!=0) res[11][18]=a01;
  if (res[11]!=0) res[11][19]=a01;
  if (res[11]!=0) res[11][20]=a01;
  if (res[11]!=0) res[11][21]=a01;
  if (res[11]!=0) res[11][22]=a01;
  if (res[11]!=0) res[11][23]=a01;
  if (res[11]!=0) res[11][24]=a01;
  if (res[11]!=0) res[11][25]=a01;
  if (res[11]!=0) res[11][26]=a01;
  if (res[11]!=0) res[11][27]=a01;
  if (res[11]!=0) res[11][28]=a01;
  if (res[11]!=0) res[11][29]=a01;
  if (res[11]!=0) res[11][30]=a01;
  if (res[11]!=0) res[11][31]=a01;
  if (res[11]!=0) res[11][32]=a01;
  if (res[11]!=0) res[11][33]=a01;
  if (res[11]!=0) res[11][34]=a01;
  if (res[11]!=0) res[11][35]=a01;
  if (res[11]!=0) res[11][36]=a01;
  if (res[11]!=0) res[11][37]=a01;
  if (res[11]!=0) res[11][38]=a01;
  if (res[11]!=0) res[11][39]=a01;
  if (res[11]!=0) res[11][40]=a01;
  if (res[11]!=0) res[11][41]=a01;
  if (res[11]!=0) res[11][42]=a01;
  if (res[11]!=0) res[11][43]=a01;
  if (res[11]!=0) res[11][44]=a01;
  if (res[11]!=0) res[11][45]=a01;
  if (res[11]!=0) res[11][46]=a01;
  if (res[11]!=0) res[11][47]=a01;
  if (res[11]!=0) res[11][48]=a01;
  if (res[11]!=0) res[11][49]=a01;
  if (res[11]!=0) res[11][50]=a01;
  if (res[11]!=0) res[11][51]=a01;
  if (res[11]!=0) res[11][52]=a01;
  if (res[11]!=0) res[11][53]=a01;
  if (res[11]!=0) res[11][54]=a01;
  if (res[11]!=0) res[11][55]=a01;
  if (res[11]!=0) res[11][56]=a01;
  if (res[11]!=0) res[11][57]=a01;
  if (res[11]!=0) res[11][58]=a01;
  if (res[11]!=0) res[11][59]=a01;
  if (res[11]!=0) res[11][60]=a01;
  if (res[11]!=0) res[11][61]=a01;
  if (res[11]!=0) res[11][62]=a01;
  if (res[11]!=0) res[11][63]=a01;
  if (res[11]!=0) res[11][64]=a01;
  if (res[11]!=0) res[11][65]=a01;
  if (res[11]!=0) res[11][66]=a01;
  if (res[11]!=0) res[11][67]=a01;
  if (res[11]!=0) res[11][68]=a01;
  if (res[11]!=0) res[11][69]=a01;
  if (res[11]!=0) res[11][70]=a01;
  if (res[11]!=0) res[11][71]=a01;
  if (res[11]!=0) res[11][72]=a01;
  if (res[11]!=0) res[11][73]=a01;
  if (res[11]!=0) res[11][74]=a01;
  if (res[11]!=0) res[11][75]=a01;
  if (res[11]!=0) res[11][76]=a01;
  if (res[11]!=0) res[11][77]=a01;
  if (res[11]!=0) res[11][78]=a01;
  if (res[11]!=0) res[11][79]=a01;
  if (res[11]!=0) res[11][80]=a01;
  if (res[11]!=0) res[11][81]=a01;
  if (res[11]!=0) res[11][82]=a01;
  if (res[11]!=0) res[11][83]=a01;
  if (res[11]!=0) res[11][84]=a01;
  if (res[11]!=0) res[11][85]=a01;
  if (res[11]!=0) res[11][86]=a01;
  if (res[11]!=0) res[11][87]=a01;
  if (res[11]!=0) res[11][88]=a01;
  if (res[11]!=0) res[11][89]=a01;
  if (res[11]!=0) res[11][90]=a01;
  if (res[11]!=0) res[11][91]=a01;
  if (res[11]!=0) res[11][92]=a01;
  if (res[11]!=0) res[11][93]=a01;
  if (res[11]!=0) res[11][94]=a01;
  if (res[11]!=0) res[11][95]=a01;
  if (res[12]!=0) res[12][0]=a01;
  if (res[12]!=0) res[12][1]=a01;
  if (res[12]!=0) res[12][2]=a01;
  if (res[12]!=0) res[12][3]=a01;
  if (res[12]!=0) res[12][4]=a01;
  if (res[12]!=0) res[12][5]=a01;
  if (res[13]!=0) res[13][0]=a01;
  if (res[13]!=0) res[13][1]=a01;
  if (res[13]!=0) res[13][2]=a01;
  if (res[13]!=0) res[13][3]=a01;
  if (res[13]!=0) res[13][4]=a01;
  if (res[13]!=0) res[13][5]=a01;
  return 0;
}

CASADI_SYMBOL_EXPORT int tick_stage_2_of_one(const casadi_real** arg, casadi_real** res, casadi_int* iw, casadi_real* w, int mem){
  return casadi_f0(arg, res, iw, w, mem);
}

CASADI_SYMBOL_EXPORT int tick_stage_2_of_one_checkout(void) {
  return 0;
}

CASADI_SYMBOL_EXPORT void tick_stage_2_of_one_release(int mem) {
}

CASADI_SYMBOL_EXPORT void tick_stage_2_of_one_incref(void) {
}

CASADI_SYMBOL_EXPORT void tick_stage_2_of_one_decref(void) {
}

CASADI_SYMBOL_EXPORT casadi_int tick_stage_2_of_one_n_in(void) { return 12;}

CASADI_SYMBOL_EXPORT casadi_int tick_stage_2_of_one_n_out(void) { return 14;}

CASADI_SYMBOL_EXPORT casadi_real tick_stage_2_of_one_default_in(casadi_int i) {
  switch (i) {
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const char* tick_stage_2_of_one_name_in(casadi_int i) {
  switch (i) {
    case 0: return "i0";
    case 1: return "i1";
    case 2: return "i2";
    case 3: return "i3";
    case 4: return "i4";
    case 5: return "i5";
    case 6: return "i6";
    case 7: return "i7";
    case 8: return "i8";
    case 9: return "i9";
    case 10: return "i10";
    case 11: return "i11";
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const char* tick_stage_2_of_one_name_out(casadi_int i) {
  switch (i) {
    case 0: return "o0";
    case 1: return "o1";
    case 2: return "o2";
    case 3: return "o3";
    case 4: return "o4";
    case 5: return "o5";
    case 6: return "o6";
    case 7: return "o7";
    case 8: return "o8";
    case 9: return "o9";
    case 10: return "o10";
    case 11: return "o11";
    case 12: return "o12";
    case 13: return "o13";
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const casadi_int* tick_stage_2_of_one_sparsity_in(casadi_int i) {
  switch (i) {
    case 0: return casadi_s0;
    case 1: return casadi_s1;
    case 2: return casadi_s1;
    case 3: return casadi_s2;
    case 4: return casadi_s3;
    case 5: return casadi_s3;
    case 6: return casadi_s0;
    case 7: return casadi_s4;
    case 8: return casadi_s4;
    case 9: return casadi_s1;
    case 10: return casadi_s1;
    case 11: return casadi_s0;
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const casadi_int* tick_stage_2_of_one_sparsity_out(casadi_int i) {
  switch (i) {
    case 0: return casadi_s5;
    case 1: return casadi_s6;
    case 2: return casadi_s1;
    case 3: return casadi_s7;
    case 4: return casadi_s0;
    case 5: return casadi_s8;
    case 6: return casadi_s9;
    case 7: return casadi_s2;
    case 8: return casadi_s9;
    case 9: return casadi_s10;
    case 10: return casadi_s10;
    case 11: return casadi_s7;
    case 12: return casadi_s0;
    case 13: return casadi_s0;
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT int tick_stage_2_of_one_work(casadi_int *sz_arg, casadi_int* sz_res, casadi_int *sz_iw, casadi_int *sz_w) {
  if (sz_arg) *sz_arg = 12;
  if (sz_res) *sz_res = 14;
  if (sz_iw) *sz_iw = 0;
  if (sz_w) *sz_w = 0;
  return 0;
}

CASADI_SYMBOL_EXPORT int tick_stage_2_of_one_work_bytes(casadi_int *sz_arg, casadi_int* sz_res, casadi_int *sz_iw, casadi_int *sz_w) {
  if (sz_arg) *sz_arg = 12*sizeof(const casadi_real*);
  if (sz_res) *sz_res = 14*sizeof(casadi_real*);
  if (sz_iw) *sz_iw = 0*sizeof(casadi_int);
  if (sz_w) *sz_w = 0*sizeof(casadi_real);
  return 0;
}




static int64_t tick_stage_2(const int64_t* task) {
  static double w[12];
  static casadi_int iw[1];
  const double* arg[12];
  double* res[14];
  for (int64_t k = 0; k < task[0]; ++k) {
    for (int i = 0; i < 12; ++i) arg[i] = (const double*) (intptr_t) task[3 * i + 1] + k * task[3 * i + 2];
    for (int i = 0; i < 14; ++i) {
      const int64_t* place = task + 3 * (12 + i) + 1;
      res[i] = (double*) (intptr_t) place[0] + k * place[1];
    }
    if (tick_stage_2_of_one(arg, res, iw, w, 0)) return k + 1;
  }
  return 0;
}

static int64_t ports_stage_2[52];
static Function of_jump[3];
static Function of_start[1];
#undef CASADI_PREFIX
/* How to prefix internal symbols */
#ifdef CASADI_CODEGEN_PREFIX
  #define CASADI_NAMESPACE_CONCAT(NS, ID) _CASADI_NAMESPACE_CONCAT(NS, ID)
  #define _CASADI_NAMESPACE_CONCAT(NS, ID) NS ## ID
  #define CASADI_PREFIX(ID) CASADI_NAMESPACE_CONCAT(CODEGEN_PREFIX, ID)
#else
  #define CASADI_PREFIX(ID) tick_start_0_ ## ID
#endif

#include <math.h>

#ifndef casadi_real
#define casadi_real double
#endif

#ifndef casadi_int
#define casadi_int long long int
#endif

/* Add prefix to internal symbols */
#define casadi_f0 CASADI_PREFIX(f0)
#define casadi_s0 CASADI_PREFIX(s0)

/* Symbol visibility in DLLs */
#ifndef CASADI_SYMBOL_EXPORT
  #if defined(_WIN32) || defined(__WIN32__) || defined(__CYGWIN__)
    #if defined(STATIC_LINKED)
      #define CASADI_SYMBOL_EXPORT
    #else
      #define CASADI_SYMBOL_EXPORT __declspec(dllexport)
    #endif
  #elif defined(__GNUC__) && defined(GCC_HASCLASSVISIBILITY)
    #define CASADI_SYMBOL_EXPORT __attribute__ ((visibility ("default")))
  #else
    #define CASADI_SYMBOL_EXPORT
  #endif
#endif

/* Configuration this file was compiled with */
CASADI_SYMBOL_EXPORT void tick_start_0_casadi_version(int* major, int* minor, int* patch) {
  *major = 3;
  *minor = 8;
  *patch = 2;
}
CASADI_SYMBOL_EXPORT int tick_start_0_casadi_int_size(void) { return (int) sizeof(casadi_int); }
CASADI_SYMBOL_EXPORT int tick_start_0_casadi_real_size(void) { return (int) sizeof(casadi_real); }

static const casadi_int casadi_s0[3] = {6, 1, 1};

/* tick_start_0_of_one:(i0[6],i1[6])->(o0[6]) */
static int casadi_f0(const casadi_real** arg, casadi_real** res, casadi_int* iw, casadi_real* w, int mem) {
  casadi_real a0, a1;
  a0=arg[1]? arg[1][0] : 0;
  a1=arg[0]? arg[0][0] : 0;
  a0=(a0-a1);
  if (res[0]!=0) res[0][0]=a0;
  a0=arg[1]? arg[1][1] : 0;
  a1=arg[0]? arg[0][1] : 0;
  a0=(a0-a1);
  if (res[0]!=0) res[0][1]=a0;
  a0=arg[1]? arg[1][2] : 0;
  a1=arg[0]? arg[0][2] : 0;
  a0=(a0-a1);
  if (res[0]!=0) res[0][2]=a0;
  a0=arg[1]? arg[1][3] : 0;
  a1=arg[0]? arg[0][3] : 0;
  a0=(a0-a1);
  if (res[0]!=0) res[0][3]=a0;
  a0=arg[1]? arg[1][4] : 0;
  a1=arg[0]? arg[0][4] : 0;
  a0=(a0-a1);
  if (res[0]!=0) res[0][4]=a0;
  a0=arg[1]? arg[1][5] : 0;
  a1=arg[0]? arg[0][5] : 0;
  a0=(a0-a1);
  if (res[0]!=0) res[0][5]=a0;
  return 0;
}

CASADI_SYMBOL_EXPORT int tick_start_0_of_one(const casadi_real** arg, casadi_real** res, casadi_int* iw, casadi_real* w, int mem){
  return casadi_f0(arg, res, iw, w, mem);
}

CASADI_SYMBOL_EXPORT int tick_start_0_of_one_checkout(void) {
  return 0;
}

CASADI_SYMBOL_EXPORT void tick_start_0_of_one_release(int mem) {
}

CASADI_SYMBOL_EXPORT void tick_start_0_of_one_incref(void) {
}

CASADI_SYMBOL_EXPORT void tick_start_0_of_one_decref(void) {
}

CASADI_SYMBOL_EXPORT casadi_int tick_start_0_of_one_n_in(void) { return 2;}

CASADI_SYMBOL_EXPORT casadi_int tick_start_0_of_one_n_out(void) { return 1;}

CASADI_SYMBOL_EXPORT casadi_real tick_start_0_of_one_default_in(casadi_int i) {
  switch (i) {
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const char* tick_start_0_of_one_name_in(casadi_int i) {
  switch (i) {
    case 0: return "i0";
    case 1: return "i1";
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const char* tick_start_0_of_one_name_out(casadi_int i) {
  switch (i) {
    case 0: return "o0";
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const casadi_int* tick_start_0_of_one_sparsity_in(casadi_int i) {
  switch (i) {
    case 0: return casadi_s0;
    case 1: return casadi_s0;
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const casadi_int* tick_start_0_of_one_sparsity_out(casadi_int i) {
  switch (i) {
    case 0: return casadi_s0;
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT int tick_start_0_of_one_work(casadi_int *sz_arg, casadi_int* sz_res, casadi_int *sz_iw, casadi_int *sz_w) {
  if (sz_arg) *sz_arg = 2;
  if (sz_res) *sz_res = 1;
  if (sz_iw) *sz_iw = 0;
  if (sz_w) *sz_w = 0;
  return 0;
}

CASADI_SYMBOL_EXPORT int tick_start_0_of_one_work_bytes(casadi_int *sz_arg, casadi_int* sz_res, casadi_int *sz_iw, casadi_int *sz_w) {
  if (sz_arg) *sz_arg = 2*sizeof(const casadi_real*);
  if (sz_res) *sz_res = 1*sizeof(casadi_real*);
  if (sz_iw) *sz_iw = 0*sizeof(casadi_int);
  if (sz_w) *sz_w = 0*sizeof(casadi_real);
  return 0;
}




static int64_t tick_start_0(const int64_t* task) {
  static double w[2];
  static casadi_int iw[1];
  const double* arg[2];
  double* res[1];
  for (int64_t k = 0; k < task[0]; ++k) {
    for (int i = 0; i < 2; ++i) arg[i] = (const double*) (intptr_t) task[3 * i + 1] + k * task[3 * i + 2];
    for (int i = 0; i < 1; ++i) {
      const int64_t* place = task + 3 * (2 + i) + 1;
      res[i] = (double*) (intptr_t) place[0] + k * place[1];
    }
    if (tick_start_0_of_one(arg, res, iw, w, 0)) return k + 1;
  }
  return 0;
}

static int64_t ports_start_0[6];
static Function of_retract[1];
#undef CASADI_PREFIX
/* How to prefix internal symbols */
#ifdef CASADI_CODEGEN_PREFIX
  #define CASADI_NAMESPACE_CONCAT(NS, ID) _CASADI_NAMESPACE_CONCAT(NS, ID)
  #define _CASADI_NAMESPACE_CONCAT(NS, ID) NS ## ID
  #define CASADI_PREFIX(ID) CASADI_NAMESPACE_CONCAT(CODEGEN_PREFIX, ID)
#else
  #define CASADI_PREFIX(ID) tick_retract_0_ ## ID
#endif

#include <math.h>

#ifndef casadi_real
#define casadi_real double
#endif

#ifndef casadi_int
#define casadi_int long long int
#endif

/* Add prefix to internal symbols */
#define casadi_f0 CASADI_PREFIX(f0)
#define casadi_fmax CASADI_PREFIX(fmax)
#define casadi_fmin CASADI_PREFIX(fmin)
#define casadi_s0 CASADI_PREFIX(s0)
#define casadi_s1 CASADI_PREFIX(s1)
#define casadi_s2 CASADI_PREFIX(s2)

/* Symbol visibility in DLLs */
#ifndef CASADI_SYMBOL_EXPORT
  #if defined(_WIN32) || defined(__WIN32__) || defined(__CYGWIN__)
    #if defined(STATIC_LINKED)
      #define CASADI_SYMBOL_EXPORT
    #else
      #define CASADI_SYMBOL_EXPORT __declspec(dllexport)
    #endif
  #elif defined(__GNUC__) && defined(GCC_HASCLASSVISIBILITY)
    #define CASADI_SYMBOL_EXPORT __attribute__ ((visibility ("default")))
  #else
    #define CASADI_SYMBOL_EXPORT
  #endif
#endif

casadi_real casadi_fmax(casadi_real x, casadi_real y) {
/* Pre-c99 compatibility */
#if __STDC_VERSION__ < 199901L
  return x>y ? x : y;
#else
  return fmax(x, y);
#endif
}

casadi_real casadi_fmin(casadi_real x, casadi_real y) {
/* Pre-c99 compatibility */
#if __STDC_VERSION__ < 199901L
  return x<y ? x : y;
#else
  return fmin(x, y);
#endif
}

/* Configuration this file was compiled with */
CASADI_SYMBOL_EXPORT void tick_retract_0_casadi_version(int* major, int* minor, int* patch) {
  *major = 3;
  *minor = 8;
  *patch = 2;
}
CASADI_SYMBOL_EXPORT int tick_retract_0_casadi_int_size(void) { return (int) sizeof(casadi_int); }
CASADI_SYMBOL_EXPORT int tick_retract_0_casadi_real_size(void) { return (int) sizeof(casadi_real); }

static const casadi_int casadi_s0[3] = {6, 1, 1};
static const casadi_int casadi_s1[3] = {3, 1, 1};
static const casadi_int casadi_s2[3] = {16, 1, 1};

/* tick_retract_0_of_one:(i0[6],i1[3],i2[3],i3[16],i4[3])->(o0[6],o1[3],o2[3]) */
static int casadi_f0(const casadi_real** arg, casadi_real** res, casadi_int* iw, casadi_real* w, int mem) {
  casadi_real a0, a1, a2, a3;
  a0=arg[0]? arg[0][0] : 0;
  a1=arg[3]? arg[3][3] : 0;
  a0=(a0+a1);
  if (res[0]!=0) res[0][0]=a0;
  a0=arg[0]? arg[0][1] : 0;
  a1=arg[3]? arg[3][4] : 0;
  a0=(a0+a1);
  if (res[0]!=0) res[0][1]=a0;
  a0=arg[0]? arg[0][2] : 0;
  a1=arg[3]? arg[3][5] : 0;
  a0=(a0+a1);
  if (res[0]!=0) res[0][2]=a0;
  a0=arg[0]? arg[0][3] : 0;
  a1=arg[3]? arg[3][6] : 0;
  a0=(a0+a1);
  if (res[0]!=0) res[0][3]=a0;
  a0=arg[0]? arg[0][4] : 0;
  a1=arg[3]? arg[3][7] : 0;
  a0=(a0+a1);
  if (res[0]!=0) res[0][4]=a0;
  a0=arg[0]? arg[0][5] : 0;
  a1=arg[3]? arg[3][8] : 0;
  a0=(a0+a1);
  if (res[0]!=0) res[0][5]=a0;
  a0=arg[1]? arg[1][0] : 0;
  a1=arg[3]? arg[3][0] : 0;
  a0=(a0+a1);
  a1=-40.;
  a0=casadi_fmax(a0,a1);
  a2=40.;
  a0=casadi_fmin(a0,a2);
  if (res[1]!=0) res[1][0]=a0;
  a0=arg[1]? arg[1][1] : 0;
  a3=arg[3]? arg[3][1] : 0;
  a0=(a0+a3);
  a0=casadi_fmax(a0,a1);
  a0=casadi_fmin(a0,a2);
  if (res[1]!=0) res[1][1]=a0;
  a0=arg[1]? arg[1][2] : 0;
  a3=arg[3]? arg[3][2] : 0;
  a0=(a0+a3);
  a0=casadi_fmax(a0,a1);
  a0=casadi_fmin(a0,a2);
  if (res[1]!=0) res[1][2]=a0;
  a0=arg[2]? arg[2][0] : 0;
  a2=arg[4]? arg[4][0] : 0;
  a0=(a0+a2);
  if (res[2]!=0) res[2][0]=a0;
  a0=arg[2]? arg[2][1] : 0;
  a2=arg[4]? arg[4][1] : 0;
  a0=(a0+a2);
  if (res[2]!=0) res[2][1]=a0;
  a0=arg[2]? arg[2][2] : 0;
  a2=arg[4]? arg[4][2] : 0;
  a0=(a0+a2);
  if (res[2]!=0) res[2][2]=a0;
  return 0;
}

CASADI_SYMBOL_EXPORT int tick_retract_0_of_one(const casadi_real** arg, casadi_real** res, casadi_int* iw, casadi_real* w, int mem){
  return casadi_f0(arg, res, iw, w, mem);
}

CASADI_SYMBOL_EXPORT int tick_retract_0_of_one_checkout(void) {
  return 0;
}

CASADI_SYMBOL_EXPORT void tick_retract_0_of_one_release(int mem) {
}

CASADI_SYMBOL_EXPORT void tick_retract_0_of_one_incref(void) {
}

CASADI_SYMBOL_EXPORT void tick_retract_0_of_one_decref(void) {
}

CASADI_SYMBOL_EXPORT casadi_int tick_retract_0_of_one_n_in(void) { return 5;}

CASADI_SYMBOL_EXPORT casadi_int tick_retract_0_of_one_n_out(void) { return 3;}

CASADI_SYMBOL_EXPORT casadi_real tick_retract_0_of_one_default_in(casadi_int i) {
  switch (i) {
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const char* tick_retract_0_of_one_name_in(casadi_int i) {
  switch (i) {
    case 0: return "i0";
    case 1: return "i1";
    case 2: return "i2";
    case 3: return "i3";
    case 4: return "i4";
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const char* tick_retract_0_of_one_name_out(casadi_int i) {
  switch (i) {
    case 0: return "o0";
    case 1: return "o1";
    case 2: return "o2";
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const casadi_int* tick_retract_0_of_one_sparsity_in(casadi_int i) {
  switch (i) {
    case 0: return casadi_s0;
    case 1: return casadi_s1;
    case 2: return casadi_s1;
    case 3: return casadi_s2;
    case 4: return casadi_s1;
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT const casadi_int* tick_retract_0_of_one_sparsity_out(casadi_int i) {
  switch (i) {
    case 0: return casadi_s0;
    case 1: return casadi_s1;
    case 2: return casadi_s1;
    default: return 0;
  }
}

CASADI_SYMBOL_EXPORT int tick_retract_0_of_one_work(casadi_int *sz_arg, casadi_int* sz_res, casadi_int *sz_iw, casadi_int *sz_w) {
  if (sz_arg) *sz_arg = 5;
  if (sz_res) *sz_res = 3;
  if (sz_iw) *sz_iw = 0;
  if (sz_w) *sz_w = 0;
  return 0;
}

CASADI_SYMBOL_EXPORT int tick_retract_0_of_one_work_bytes(casadi_int *sz_arg, casadi_int* sz_res, casadi_int *sz_iw, casadi_int *sz_w) {
  if (sz_arg) *sz_arg = 5*sizeof(const casadi_real*);
  if (sz_res) *sz_res = 3*sizeof(casadi_real*);
  if (sz_iw) *sz_iw = 0*sizeof(casadi_int);
  if (sz_w) *sz_w = 0*sizeof(casadi_real);
  return 0;
}




static int64_t tick_retract_0(const int64_t* task) {
  static double w[4];
  static casadi_int iw[1];
  const double* arg[5];
  double* res[3];
  for (int64_t k = 0; k < task[0]; ++k) {
    for (int i = 0; i < 5; ++i) arg[i] = (const double*) (intptr_t) task[3 * i + 1] + k * task[3 * i + 2];
    for (int i = 0; i < 3; ++i) {
      const int64_t* place = task + 3 * (5 + i) + 1;
      res[i] = (double*) (intptr_t) place[0] + k * place[1];
    }
    if (tick_retract_0_of_one(arg, res, iw, w, 0)) return k + 1;
  }
  return 0;
}

static int64_t ports_retract_0[16];
static Sparse of_E[3];
static int64_t places_E_0[12] __attribute__((aligned(64))) = {
  0, 0, 3, 0, 1, 1,
  4, 1, 2, 2, 5, 2};

static int64_t places_E_1[12] __attribute__((aligned(64))) = {
  0, 0, 3, 0, 1, 1,
  4, 1, 2, 2, 5, 2};

static int64_t places_E_2[1] __attribute__((aligned(64)));

static Sparse of_F[3];
static int64_t places_F_0[1] __attribute__((aligned(64)));

static int64_t places_F_1[1] __attribute__((aligned(64)));

static int64_t places_F_2[1] __attribute__((aligned(64)));

static Sparse of_D[3];
static int64_t places_D_0[6] __attribute__((aligned(64))) = {
  0, 0, 1, 1, 2, 2};

static int64_t places_D_1[12] __attribute__((aligned(64))) = {
  0, 0, 3, 0, 1, 1,
  4, 1, 2, 2, 5, 2};

static int64_t places_D_2[1] __attribute__((aligned(64)));

static Stage memory[20];
static Program program;
static Tick self;
double tick_step, tick_gap, tick_infeasibility;

int tick(int shift) {
  if (!self.n) {
    ports_stage_0[0] = (int64_t) (intptr_t) tick_x;
    ports_stage_0[1] = 6;
    ports_stage_0[2] = (int64_t) (intptr_t) tick_u;
    ports_stage_0[3] = 3;
    ports_stage_0[4] = (int64_t) (intptr_t) tick_w;
    ports_stage_0[5] = 3;
    ports_stage_0[6] = (int64_t) (intptr_t) own_t;
    ports_stage_0[7] = 1;
    ports_stage_0[8] = (int64_t) (intptr_t) own_weights;
    ports_stage_0[9] = 5;
    ports_stage_0[10] = (int64_t) (intptr_t) own_off;
    ports_stage_0[11] = 5;
    ports_stage_0[12] = (int64_t) (intptr_t) tick_x_end;
    ports_stage_0[13] = 6;
    ports_stage_0[22] = (int64_t) (intptr_t) own_y;
    ports_stage_0[23] = 6;
    ports_stage_0[24] = (int64_t) (intptr_t) own_L;
    ports_stage_0[25] = 9;
    ports_stage_0[26] = (int64_t) (intptr_t) own_K;
    ports_stage_0[27] = 48;
    ports_stage_0[28] = (int64_t) (intptr_t) own_k;
    ports_stage_0[29] = 3;
    ports_stage_0[30] = (int64_t) (intptr_t) own_A;
    ports_stage_0[31] = 96;
    ports_stage_0[32] = (int64_t) (intptr_t) own_b;
    ports_stage_0[33] = 6;
    ports_stage_0[34] = (int64_t) (intptr_t) own_H;
    ports_stage_0[35] = 144;
    ports_stage_0[36] = (int64_t) (intptr_t) own_g;
    ports_stage_0[37] = 16;
    ports_stage_0[38] = (int64_t) (intptr_t) own_cost;
    ports_stage_0[39] = 1;
    ports_stage_0[40] = (int64_t) (intptr_t) own_G;
    ports_stage_0[41] = 16;
    ports_stage_0[42] = (int64_t) (intptr_t) own_lower;
    ports_stage_0[43] = 24;
    ports_stage_0[44] = (int64_t) (intptr_t) own_upper;
    ports_stage_0[45] = 24;
    ports_stage_0[46] = (int64_t) (intptr_t) own_S;
    ports_stage_0[47] = 96;
    ports_stage_0[48] = (int64_t) (intptr_t) own_s;
    ports_stage_0[49] = 6;
    ports_stage_0[50] = (int64_t) (intptr_t) own_w_s;
    ports_stage_0[51] = 6;
    ports_stage_0[52] = (int64_t) (intptr_t) own_E;
    ports_stage_0[53] = 6;
    ports_stage_0[54] = (int64_t) (intptr_t) own_D;
    ports_stage_0[55] = 3;
    of_stage[0] = (Function) {tick_stage_0, 28, ports_stage_0};
    ports_stage_1[0] = (int64_t) (intptr_t) tick_x;
    ports_stage_1[1] = 6;
    ports_stage_1[2] = (int64_t) (intptr_t) tick_u;
    ports_stage_1[3] = 3;
    ports_stage_1[4] = (int64_t) (intptr_t) tick_w;
    ports_stage_1[5] = 3;
    ports_stage_1[6] = (int64_t) (intptr_t) own_t;
    ports_stage_1[7] = 1;
    ports_stage_1[8] = (int64_t) (intptr_t) own_weights;
    ports_stage_1[9] = 5;
    ports_stage_1[10] = (int64_t) (intptr_t) own_off;
    ports_stage_1[11] = 5;
    ports_stage_1[12] = (int64_t) (intptr_t) tick_x_end;
    ports_stage_1[13] = 6;
    ports_stage_1[18] = (int64_t) (intptr_t) tick_line;
    ports_stage_1[19] = 3;
    ports_stage_1[20] = (int64_t) (intptr_t) tick_line[1];
    ports_stage_1[21] = 3;
    ports_stage_1[22] = (int64_t) (intptr_t) own_y;
    ports_stage_1[23] = 6;
    ports_stage_1[24] = (int64_t) (intptr_t) own_L;
    ports_stage_1[25] = 9;
    ports_stage_1[26] = (int64_t) (intptr_t) own_K;
    ports_stage_1[27] = 48;
    ports_stage_1[28] = (int64_t) (intptr_t) own_k;
    ports_stage_1[29] = 3;
    ports_stage_1[30] = (int64_t) (intptr_t) own_A;
    ports_stage_1[31] = 96;
    ports_stage_1[32] = (int64_t) (intptr_t) own_b;
    ports_stage_1[33] = 6;
    ports_stage_1[34] = (int64_t) (intptr_t) own_H;
    ports_stage_1[35] = 144;
    ports_stage_1[36] = (int64_t) (intptr_t) own_g;
    ports_stage_1[37] = 16;
    ports_stage_1[38] = (int64_t) (intptr_t) own_cost;
    ports_stage_1[39] = 1;
    ports_stage_1[40] = (int64_t) (intptr_t) own_G;
    ports_stage_1[41] = 16;
    ports_stage_1[42] = (int64_t) (intptr_t) own_lower;
    ports_stage_1[43] = 24;
    ports_stage_1[44] = (int64_t) (intptr_t) own_upper;
    ports_stage_1[45] = 24;
    ports_stage_1[46] = (int64_t) (intptr_t) own_S;
    ports_stage_1[47] = 96;
    ports_stage_1[48] = (int64_t) (intptr_t) own_s;
    ports_stage_1[49] = 6;
    ports_stage_1[50] = (int64_t) (intptr_t) own_w_s;
    ports_stage_1[51] = 6;
    ports_stage_1[52] = (int64_t) (intptr_t) own_E;
    ports_stage_1[53] = 6;
    ports_stage_1[54] = (int64_t) (intptr_t) own_D;
    ports_stage_1[55] = 6;
    of_stage[1] = (Function) {tick_stage_1, 28, ports_stage_1};
    ports_stage_2[0] = (int64_t) (intptr_t) tick_x;
    ports_stage_2[1] = 6;
    ports_stage_2[2] = (int64_t) (intptr_t) tick_u;
    ports_stage_2[3] = 3;
    ports_stage_2[4] = (int64_t) (intptr_t) tick_w;
    ports_stage_2[5] = 3;
    ports_stage_2[6] = (int64_t) (intptr_t) own_t;
    ports_stage_2[7] = 1;
    ports_stage_2[8] = (int64_t) (intptr_t) own_weights;
    ports_stage_2[9] = 5;
    ports_stage_2[10] = (int64_t) (intptr_t) own_off;
    ports_stage_2[11] = 5;
    ports_stage_2[12] = (int64_t) (intptr_t) tick_x_end;
    ports_stage_2[13] = 6;
    ports_stage_2[22] = (int64_t) (intptr_t) own_y;
    ports_stage_2[23] = 6;
    ports_stage_2[24] = (int64_t) (intptr_t) own_L;
    ports_stage_2[25] = 9;
    ports_stage_2[26] = (int64_t) (intptr_t) own_K;
    ports_stage_2[27] = 48;
    ports_stage_2[28] = (int64_t) (intptr_t) own_k;
    ports_stage_2[29] = 3;
    ports_stage_2[30] = (int64_t) (intptr_t) own_A;
    ports_stage_2[31] = 96;
    ports_stage_2[32] = (int64_t) (intptr_t) own_b;
    ports_stage_2[33] = 6;
    ports_stage_2[34] = (int64_t) (intptr_t) own_H;
    ports_stage_2[35] = 144;
    ports_stage_2[36] = (int64_t) (intptr_t) own_g;
    ports_stage_2[37] = 16;
    ports_stage_2[38] = (int64_t) (intptr_t) own_cost;
    ports_stage_2[39] = 1;
    ports_stage_2[40] = (int64_t) (intptr_t) own_G;
    ports_stage_2[41] = 16;
    ports_stage_2[42] = (int64_t) (intptr_t) own_lower;
    ports_stage_2[43] = 24;
    ports_stage_2[44] = (int64_t) (intptr_t) own_upper;
    ports_stage_2[45] = 24;
    ports_stage_2[46] = (int64_t) (intptr_t) own_S;
    ports_stage_2[47] = 96;
    ports_stage_2[48] = (int64_t) (intptr_t) own_s;
    ports_stage_2[49] = 6;
    ports_stage_2[50] = (int64_t) (intptr_t) own_w_s;
    ports_stage_2[51] = 6;
    of_stage[2] = (Function) {tick_stage_2, 26, ports_stage_2};
    self.stage = of_stage;
    self.jump = of_jump;
    ports_start_0[0] = (int64_t) (intptr_t) tick_x;
    ports_start_0[1] = 6;
    ports_start_0[2] = (int64_t) (intptr_t) tick_x_0;
    ports_start_0[3] = 0;
    ports_start_0[4] = (int64_t) (intptr_t) own_delta;
    ports_start_0[5] = 0;
    of_start[0] = (Function) {tick_start_0, 3, ports_start_0};
    self.start = of_start;
    ports_retract_0[0] = (int64_t) (intptr_t) tick_x;
    ports_retract_0[1] = 6;
    ports_retract_0[2] = (int64_t) (intptr_t) tick_u;
    ports_retract_0[3] = 3;
    ports_retract_0[4] = (int64_t) (intptr_t) tick_w;
    ports_retract_0[5] = 3;
    ports_retract_0[6] = (int64_t) (intptr_t) own_z;
    ports_retract_0[7] = 16;
    ports_retract_0[8] = (int64_t) (intptr_t) own_change;
    ports_retract_0[9] = 3;
    ports_retract_0[10] = (int64_t) (intptr_t) own_next_x;
    ports_retract_0[11] = 6;
    ports_retract_0[12] = (int64_t) (intptr_t) own_next_u;
    ports_retract_0[13] = 3;
    ports_retract_0[14] = (int64_t) (intptr_t) own_next_w;
    ports_retract_0[15] = 3;
    of_retract[0] = (Function) {tick_retract_0, 8, ports_retract_0};
    self.retract = of_retract;
    of_E[0] = (Sparse) {6, places_E_0, (double*) own_E};
    of_E[1] = (Sparse) {6, places_E_1, (double*) own_E};
    of_E[2] = (Sparse) {0, places_E_2, (double*) own_E};
    self.E = of_E;
    of_F[0] = (Sparse) {0, places_F_0, (double*) own_F};
    of_F[1] = (Sparse) {0, places_F_1, (double*) own_F};
    of_F[2] = (Sparse) {0, places_F_2, (double*) own_F};
    self.F = of_F;
    of_D[0] = (Sparse) {3, places_D_0, (double*) own_D};
    of_D[1] = (Sparse) {6, places_D_1, (double*) own_D};
    of_D[2] = (Sparse) {0, places_D_2, (double*) own_D};
    self.D = of_D;
    self.x = (double*) tick_x;
    self.u = (double*) tick_u;
    self.w = (double*) tick_w;
    self.y = (double*) own_y;
    self.z = (double*) own_z;
    self.change = (double*) own_change;
    self.next_x = (double*) own_next_x;
    self.next_u = (double*) own_next_u;
    self.next_w = (double*) own_next_w;
    self.L = (double*) own_L;
    self.K = (double*) own_K;
    self.k = (double*) own_k;
    self.A = (double*) own_A;
    self.b = (double*) own_b;
    self.H = (double*) own_H;
    self.g = (double*) own_g;
    self.cost = (double*) own_cost;
    self.G = (double*) own_G;
    self.lower = (double*) own_lower;
    self.upper = (double*) own_upper;
    self.S = (double*) own_S;
    self.s = (double*) own_s;
    self.w_s = (double*) own_w_s;
    self.J = (double*) own_J;
    self.j = (double*) own_j;
    self.w1 = (double*) own_w1;
    self.w2 = (double*) own_w2;
    self.order = own_order;
    self.set = own_set;
    self.lands = own_lands;
    program.A = (const Row*) own_A;
    program.H = (const Row*) own_H;
    program.g = (const Row*) own_g;
    program.G = (const Row*) own_G;
    program.b = (double*) own_b;
    program.lower = (double*) own_lower;
    program.upper = (double*) own_upper;
    program.w1 = (double*) own_w1;
    program.w2 = (double*) own_w2;
    program.free = (double*) own_free;
    self.x_0 = own_qp_x_0;
    program.x_0 = own_qp_x_0;
    self.penalty = 0.0;
    self.first_gap = 0.0;
    self.weight = 107.79383080393963;
    self.program = &program;
    self.memory = memory;
    self.n = 19;
  }
  if (shift < 0 || shift > 0) return -1;
  memcpy(tick_line[20], tick_line[19], sizeof tick_line[0]);
  int outcome = (int) gauss_newton_tick(&self, own_delta, shift, 30, 1000000.0);
  tick_step = self.step, tick_gap = self.gap, tick_infeasibility = self.infeasibility;
  return !outcome && self.infeasibility > 0.5 ? 4 : outcome;
}
