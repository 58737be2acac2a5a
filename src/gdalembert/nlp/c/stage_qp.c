/* A quadratic program of an optimal control problem, by an interior point and a Riccati recursion.

     min  sum_k  z_k' H_k z_k / 2 + g_k' z_k + penalties,      z_k = (u_k, x_k),  k = 0 ... n,
          x_(k+1) = A_k z_k + b_k,  x_0 given,   lower_k <= c_k = (z_k, G_k z_k) <= upper_k.

   Limits are hard, or soft: to be s beyond one costs w1 s + w2 s^2 / 2. Of a limit c <= h + s with slack t = h + s - c, a
   force l on c, and a force p that keeps s >= 0, the conditions are l t = mu, p s = mu, w1 + w2 s = l + p. In their Newton
   step, with w = w2 s + p and e = 1 / (t w + l s), or 1 / (t w) if it is hard, l changes by l w e times the step of c and by
   a number, `fixed`. Predictor and corrector (Mehrotra 1992) share a factorization.

   Of x_0, entries are free where `free` is 1, if FREE is 1; they take their minimum of the cost to go.

   Macros: NX, NU, NG, FREE. A limit of w1 < 0 is hard. Rows of matrices, and z, are filled up to whole vectors of WIDE numbers,
   and so are rows of limits. Rows of G without limits are not read: what follows has the others of a stage alone. Where WIDE
   is 1, this is C99, without extensions. */
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
#if WIDE > 1
typedef double V __attribute__((vector_size(sizeof(double) * WIDE)));
typedef __typeof__((V) {0} > (V) {0}) I;
#define LANE(a, i) ((a)[i])
#else
typedef double V;
#define LANE(a, i) (a)
#endif
#ifdef __GNUC__
#define INLINED static inline __attribute__((always_inline))
#define UNROLL_3 _Pragma("GCC unroll 3")
#define UNROLL_8 _Pragma("GCC unroll 8")
#else
#define INLINED static inline
#define UNROLL_3
#define UNROLL_8
#endif
typedef V Row[ZB];

typedef struct { /* the limits on one side; `on` is 1 where there is one, `soft` where it is soft; divisions are slow */
  V least[CB]; /* of a product of a force and its slack, in equations: without it, stiffness would round all else off */
  V h[CB], on[CB], soft[CB], t[CB], l[CB], s[CB], p[CB], dt[CB], dl[CB], ds[CB], dp[CB], e[CB], by_tl[CB], by_sp[CB];
} Side;
typedef struct {
  Row L[NU + !NU]; /* of the Cholesky factor */
  V z[ZB], step[ZB], c[CB], D[CB], r[CB], w1[CB], w2[CB];
  int limited, blocks, row[NG + 1]; /* rows with limits: how many, which; vectors that z and they fill */
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

/* Vectors are arguments by address alone: how they are passed by value is another matter with every processor. */
#define EVERY(x) ((x) - (V) {0})
#if WIDE > 1
#define LARGER(a, b) ((V) ((((a) > (b)) & (I) (a)) | (~((a) > (b)) & (I) (b))))
#else
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#endif
static inline double sum(const V* a) {
  double y = 0;
  for (int i = 0; i < WIDE; ++i) y += LANE(*a, i);
  return y;
}
static inline double largest(const V* a) {
  double y = LANE(*a, 0);
  for (int i = 1; i < WIDE; ++i) y = LANE(*a, i) > y ? LANE(*a, i) : y;
  return y;
}
static inline double dot(const V* a, const V* b) {
  V y = a[0] * b[0];
  for (int c = 1; c < ZB; ++c) y += a[c] * b[c];
  return sum(&y);
}
static inline void add(double x, const V* row, V* to) {
  for (int c = 0; c < ZB; ++c) to[c] += x * row[c];
}

/* out[i] += sum_j a(i, j) m[j], for R rows and W vectors of each from c on; a is by columns if `turned`. */
INLINED void
block(int R, int W, int turned, const double* a, const Row* m, int n, Row* out, int c) {
  V y[8][3];
UNROLL_8
  for (int i = 0; i < R; ++i)
UNROLL_3
    for (int k = 0; k < W; ++k) y[i][k] = out[i][c + k];
  for (int j = 0; j < n; ++j)
UNROLL_8
    for (int i = 0; i < R; ++i) {
      V x = EVERY(turned ? a[j * NZP + i] : a[i * NZP + j]);
UNROLL_3
      for (int k = 0; k < W; ++k) y[i][k] += x * m[j][c + k];
    }
UNROLL_8
  for (int i = 0; i < R; ++i)
UNROLL_3
    for (int k = 0; k < W; ++k) out[i][c + k] = y[i][k];
}

INLINED void
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
    (void) memcpy(S, q->H + k * NZ, sizeof S);
    for (int i = 0; i < NZ; ++i) ((double*) S[i])[i] += D[i];
    if (k < n) {
      (void) memset(rest, 0, sizeof(Row) * NX);
      product(0, (const double*) P[0] + NU, q->A + k * NX, NX, rest, NX, -1);
      product(1, (const double*) (q->A + k * NX), (const Row*) rest, NX, S, NZ, 0);
    }
    for (int j = 0; j < own->limited; ++j) {
      if (!D[NZP + j]) continue;
      const V* row = q->G[k * NG + own->row[j]];
      for (int c = 0; c < ZB; ++c) active[m][c] = row[c], rest[m][c] = D[NZP + j] * row[c];
      ++m;
    }
    if (m > 0) product(1, (const double*) active, (const Row*) rest, m, S, NZ, 0);
    for (int i = 0; i < NU && k < n; ++i) {
      for (int c = 0; c < ZB; ++c) own->L[i][c] = S[i][c];
      for (int j = 0; j < i; ++j) add(((double*) minus[j])[i], own->L[j], own->L[i]);
      own->inverse[i] = 1 / sqrt(((double*) own->L[i])[i]);
      for (int c = 0; c < ZB; ++c) own->L[i][c] *= own->inverse[i];
      for (int c = 0; c < i; ++c) ((double*) own->L[i])[c] = 0;
      for (int c = 0; c < ZB; ++c) minus[i][c] = -own->L[i][c];
    }
    if (k < n) product(1, (const double*) minus + NU, (const Row*) own->L, NU, S + NU, NX, NU);
    (void) memcpy(P, S + NU, sizeof P);
    for (int i = 0; i < NX; ++i)
      for (int j = i + 1; j < NX; ++j) ((double*) P[j])[NU + i] = ((double*) P[i])[NU + j];
#if FREE
    if (!k) factor_start(q->free, (const Row*) P, own);
#endif
    if (!k) break;
    V Pb[ZB] = {0};
    for (int j = 0; j < NX; ++j) add(q->b[(k - 1) * NX + j], P[j], Pb);
    (void) memcpy(own[-1].Pb, (double*) Pb + NU, sizeof own->Pb);
  }
}

/* The minimum with the weights D and gradients r of limits, as `step`. */
static void solve(int n, const Program* q, Stage* stages) {
  for (int k = n; k >= 0; --k) {
    Stage* own = stages + k;
    const double* r = (const double*) own->r;
    V h[ZB];
    for (int c = 0; c < ZB; ++c) h[c] = q->g[k][c] + own->r[c];
    for (int j = 0; j < own->limited; ++j) add(r[NZP + j], q->G[k * NG + own->row[j]], h);
    for (int j = 0; j < NX && k < n; ++j) add(own[1].p[j] + own->Pb[j], q->A[k * NX + j], h);
    for (int i = 0; i < NU && k < n; ++i) {
      own->feed[i] = ((double*) h)[i] * own->inverse[i];
      add(-own->feed[i], own->L[i], h);
    }
    (void) memcpy(own->p, (double*) h + NU, sizeof own->p);
  }
  for (int k = 0; k <= n; ++k) {
    Stage* own = stages + k;
    double* z = (double*) own->step;
    (void) memset(z, 0, sizeof own->step);
    for (int j = 0; j < NX; ++j) z[NU + j] = k ? q->b[(k - 1) * NX + j] + dot(q->A[(k - 1) * NX + j], own[-1].step) : q->x_0[j];
#if FREE
    if (!k) free_start(q->free, own, z + NU);
#endif
    for (int i = NU - 1; i >= 0 && k < n; --i) z[i] = -(own->feed[i] + dot(own->L[i], own->step)) * own->inverse[i];
  }
}

static void values(int k, const Program* q, const Stage* own, const V* z, V* c) {
  (void) memcpy(c, z, sizeof(V) * ZB);
  (void) memset(c + ZB, 0, sizeof(V) * (own->blocks - ZB));
  for (int j = 0; j < own->limited; ++j) ((double*) (c + ZB))[j] = dot(q->G[k * NG + own->row[j]], z);
}

/* The rows of a stage that have limits. */
static void choose(const double* lower, const double* upper, Stage* own) {
  own->limited = 0;
  for (int j = 0; j < NG; ++j)
    if (!(lower[NZP + j] == -INFINITY && upper[NZP + j] == INFINITY)) own->row[own->limited++] = j;
  own->blocks = ZB + (own->limited + WIDE - 1) / WIDE;
}

typedef struct { V q, fixed, by_t, by_s; } Newton;

/* What changes on one side without a step of c; `corrected` by the predictor, or not. */
static inline void
newton(const Side* x, int i, const V* c, const V* w1, const V* w2, double mu, double corrected, Newton* y) {
  V all = EVERY(mu), goal = LARGER(all, x->least[i]);
  y->by_t = x->on[i] * (x->h[i] + x->soft[i] * x->s[i] - *c - x->t[i]);
  y->by_s = x->soft[i] * ((goal - corrected * x->dp[i] * x->ds[i]) * x->by_sp[i] - 1) * x->p[i];
  V force = x->l[i] * ((goal - corrected * x->dt[i] * x->dl[i] - x->l[i] * y->by_t) * x->by_tl[i] - 1);
  y->q = x->soft[i] * (x->l[i] + x->p[i] - *w1 - *w2 * x->s[i] + force + y->by_s);
  y->fixed = force - x->l[i] * x->s[i] * x->e[i] * y->q;
}

/* How much force a step of c makes. */
#define STIFFNESS(x, i, w2) ((x)->l[i] * ((w2) * (x)->s[i] + (x)->p[i]) * (x)->e[i])

static inline void divide(Side* x, int i, const V* w2) {
  x->e[i] = 1 / (x->t[i] * (*w2 * x->s[i] + x->p[i]) + x->soft[i] * x->l[i] * x->s[i]);
  x->by_tl[i] = 1 / (x->t[i] * x->l[i] + (1 - x->on[i]));
  x->by_sp[i] = 1 / (x->s[i] * x->p[i]);
}

/* The largest of absolute values, or NaN if one is not finite. */
static double norm(const double* x, int64_t count) {
  V most = {0}, bad = {0}, a = {0};
  for (int64_t i = 0; i < count; i += WIDE) {
    if (i + WIDE <= count) memcpy(&a, x + i, sizeof a);
    else
      for (int j = 0; j < WIDE; ++j) LANE(a, j) = i + j < count ? x[i + j] : 0;
    V size = LARGER(a, -a);
    most = LARGER(size, most);
    bad += 0 * a;
  }
  return largest(&most) + sum(&bad);
}

/* Slacks and forces where the search begins, the same in any unit of a row; returns how many pairs there are. */
static int begin(int n, const Program* q, Stage* stages, double mu) {
  int pairs = 0;
  for (int k = 0; k <= n; ++k) {
    Stage* own = stages + k;
    for (int i = 0; i < WIDE * own->blocks; ++i) {
      int filler = i >= NZP + own->limited, j = i < NZP || filler ? i : NZP + own->row[i - NZP];
      int none = filler || (k ? k == n && i < NU : i >= NU && i < NZ && !(FREE && q->free[i - NU])); /* x_0 is given, and the last stage has no u */
      const double* row = i >= NZP && !filler ? (const double*) q->G[k * NG + j - NZP] : 0;
      double low = filler ? -INFINITY : q->lower[k * NC + j], high = filler ? INFINITY : q->upper[k * NC + j];
      double c = ((double*) own->c)[i], w1 = filler ? -1 : q->w1[j], w2 = filler ? 0 : q->w2[j];
      int reached = row && norm(row, NU) > 0;
      double slope = row ? norm(row, NZ) : 1, range = high - low;
      int equation = w1 >= 0 && !(range > 0); /* which has room in its softness alone */
      double margin = 0.01 * fmin(equation ? 1 : range, slope > 0 && slope < 1 ? slope : 1);
      margin = margin > 1e-8 ? margin : 1e-8;
      ((double*) own->w1)[i] = w1, ((double*) own->w2)[i] = w2;
      for (int side = 0; side < 2; ++side) {
        Side* x = own->side + side;
        double h = side ? high : -low, left = side ? high - c : c - low;
        int on = !none && !(h == INFINITY), soft = on && w1 >= 0;
        double t = on ? (left > margin ? left : margin) : 1, l = mu / t, s = 1, p = 1;
        if (soft && !equation && (left > margin || reached)) { /* p s = mu, and p = w1 + w2 s - l */
          p = 0.5 * (w1 - l + sqrt((w1 - l) * (w1 - l) + 4 * w2 * mu)), p = p > 0.01 * w1 ? p : 0.01 * w1 + 1e-12;
          s = mu / p, t = (left > margin ? left : margin) + s;
        } else if (soft != 0) { /* beyond, and out of reach of u; both forces share w1 + w2 s */
          s = equation ? fmax(margin, margin - left) : margin - left, t = left + s, l = p = 0.5 * (w1 + w2 * s);
        }
        ((double*) x->least)[i] = equation ? 1e-11 * w1 * w1 : 0;
        ((double*) x->h)[i] = on ? h : 0, ((double*) x->on)[i] = on, ((double*) x->soft)[i] = soft;
        ((double*) x->t)[i] = t, ((double*) x->l)[i] = on ? l : 0;
        ((double*) x->s)[i] = s, ((double*) x->p)[i] = p;
        pairs += on + soft;
      }
    }
    for (Side* x = own->side; x < own->side + 2; ++x)
      for (int i = 0; i < own->blocks; ++i) x->dt[i] = x->dl[i] = x->ds[i] = x->dp[i] = (V) {0};
  }
  return pairs;
}

/* Sum of forces times slacks after a part `alpha` of the step, beyond the least ones. */
static double gap(int n, const Stage* stages, double alpha) {
  V y = {0};
  for (int k = 0; k <= n; ++k)
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < stages[k].blocks; ++i) {
        const Side* x = stages[k].side + side;
        y += ((x->l[i] + alpha * x->dl[i]) * (x->t[i] + alpha * x->dt[i]) - x->least[i]) * x->on[i];
        y += ((x->p[i] + alpha * x->dp[i]) * (x->s[i] + alpha * x->ds[i]) - x->least[i]) * x->soft[i];
      }
  return sum(&y);
}

/* The step towards products mu; returns the part of it that leaves slacks and forces positive, at most 1, or NaN. */
static double direction(int n, const Program* q, Stage* stages, double mu, int corrected) {
  for (int k = 0; k <= n; ++k) {
    Stage* own = stages + k;
    const V *w1 = own->w1, *w2 = own->w2;
    for (int i = 0; i < own->blocks; ++i) {
      if (!corrected) {
        for (int side = 0; side < 2; ++side) divide(own->side + side, i, w2 + i);
        own->D[i] = STIFFNESS(own->side, i, w2[i]) + STIFFNESS(own->side + 1, i, w2[i]);
      }
      V minus = -own->c[i];
      Newton low, high;
      newton(own->side, i, &minus, w1 + i, w2 + i, mu, corrected, &low);
      newton(own->side + 1, i, own->c + i, w1 + i, w2 + i, mu, corrected, &high);
      own->r[i] = own->side[1].l[i] + high.fixed - own->side[0].l[i] - low.fixed - own->D[i] * own->c[i];
    }
  }
  if (!corrected) factor(n, q, stages);
  solve(n, q, stages);
  V most = EVERY(1e-12), bad = {0};
  for (int k = 0; k <= n; ++k) {
    Stage* own = stages + k;
    const V *w1 = own->w1, *w2 = own->w2;
    V c[CB];
    values(k, q, own, own->step, c);
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < own->blocks; ++i) {
        Side* x = own->side + side;
        V sign = EVERY(side ? 1.0 : -1.0), change = sign * (c[i] - own->c[i]);
        V value = sign * own->c[i];
        Newton y;
        newton(x, i, &value, w1 + i, w2 + i, mu, corrected, &y);
        x->dl[i] = y.fixed + STIFFNESS(x, i, w2[i]) * change;
        x->ds[i] = x->soft[i] * x->s[i] * x->e[i] * (x->l[i] * change + x->t[i] * y.q);
        x->dt[i] = x->on[i] * (x->ds[i] - change + y.by_t);
        x->dp[i] = y.by_s - x->p[i] * x->p[i] * x->by_sp[i] * x->ds[i];
        V a = -x->dt[i] * x->l[i], b = -x->dl[i] * x->t[i], by_tl = LARGER(a, b) * x->by_tl[i];
        V d = -x->ds[i] * x->p[i], e = -x->dp[i] * x->s[i], by_sp = LARGER(d, e) * x->by_sp[i];
        most = LARGER(by_tl, most);
        most = LARGER(by_sp, most);
        bad += 0 * (x->dt[i] + x->dl[i] + x->ds[i] + x->dp[i]); /* also of z, where there is no limit */
      }
  }
  double part = (corrected ? 0.995 : 1) / largest(&most);
  return (part < 1 ? part : 1) + sum(&bad);
}

/* Minimise from z (n + 1 rows) on. `found` receives the iterations, the mean product of a force and its slack, the part
   of the first violations of limits and dynamics that is left, and the status: 0: solved, 1: at the cap of iterations, or
   of forces, 2: a number was not finite, or a limit is none, and z is the last that was. */
int stage_qp(int n, const Program* q, Stage* stages, int most, double tolerance, double mu_0, double* z, double* found) {
  int status = 1, iteration = 0;
  double mu = 0, left = 1;
  for (int k = 0; k <= n; ++k) {
    (void) memcpy(stages[k].z, z + k * NZP, sizeof stages[k].z);
    choose(q->lower + k * NC, q->upper + k * NC, stages + k);
    values(k, q, stages + k, stages[k].z, stages[k].c);
  }
  int pairs = begin(n, q, stages, mu_0);
  for (;; ++iteration) {
    double now = gap(n, stages, 0);
    mu = pairs ? now / pairs : 0;
    if (mu <= tolerance && left <= 1e-8) status = 0;
    if (!status || iteration == most || mu > 1e100) break; /* forces grow for ever where hard limits have no solution */
    double part = direction(n, q, stages, 0, 0);
    double rest = pairs ? gap(n, stages, part) / now : 0;
    if (pairs > 0) part = direction(n, q, stages, mu * rest * rest * rest, 1);
    if (part != part) {
      status = 2;
      break;
    }
    left *= 1 - part;
    for (int k = 0; k <= n; ++k) {
      Stage* own = stages + k;
      for (int c = 0; c < ZB; ++c) own->z[c] += part * (own->step[c] - own->z[c]);
      values(k, q, own, own->z, own->c);
      for (int side = 0; side < 2; ++side)
        for (int i = 0; i < own->blocks; ++i) {
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

int64_t stage_qp_layout(int what) { return what == 0 ? sizeof(Stage) : what == 1 ? NZP : what == 2 ? NC : WIDE; }
