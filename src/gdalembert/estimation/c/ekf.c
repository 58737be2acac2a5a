/* An extended Kalman filter whose covariance is R' R, in the tangent space of x = (q, v, slow states).

   Prediction. With d/dt x = f and its derivative A, both at the beginning of a step of length h, and T = h A,

     x <- x (+) Z h f,   S <- (1 + Z T) S,   Z = (1 - T/2 + T T/12)^-1,

   the Pade approximant (2, 2) of the exponential: exact to the order 4 where f is linear, to the order 2 elsewhere, and stable
   for any h. White noise of these densities along the columns of G
   is held over a step, as u is: it adds sqrt(h) Z G diag(densities). R' is S of the next step
   by Householder reflections of all these columns.

   Correction. One entry of y after the other, for its noise is independent of the others' (Potter 1963): three products of R
   and a vector, no matrix is solved or factorized. A row of the derivative H of y has few entries, mostly.

   Macros: N, the tangent space; NX, x; NU, u; NY, y; M, noises; SUBSTEPS. All rows are whole, so that compilers use vectors. */

enum { TALL = N + M, WIDTH = 2 * N + M + 1 };

static int moved(double* x, const double* delta) { /* code of a Function writes entries before it has read all */
  double from[NX];
  memcpy(from, x, sizeof from);
  return retract(from, delta, x);
}

/* Gauss's elimination of the first N columns, with pivots of columns: the others become the solutions. */
static int solve(double (*restrict a)[WIDTH]) {
  for (int k = 0; k < N; ++k) {
    int pivot = k;
    for (int i = k + 1; i < N; ++i)
      if (fabs(a[i][k]) > fabs(a[pivot][k])) pivot = i;
    if (!(fabs(a[pivot][k]) > 0)) return 1;
    for (int j = k; pivot != k && j < WIDTH; ++j) {
      double x = a[k][j];
      a[k][j] = a[pivot][j];
      a[pivot][j] = x;
    }
    double inverse = 1 / a[k][k];
    for (int i = k + 1; i < N; ++i) {
      double factor = a[i][k] * inverse;
      if (factor != 0)
        for (int j = k + 1; j < WIDTH; ++j) a[i][j] -= factor * a[k][j];
    }
    for (int j = k + 1; j < WIDTH; ++j) a[k][j] *= inverse;
  }
  for (int k = N - 1; k > 0; --k)
    for (int i = 0; i < k; ++i) {
      double factor = a[i][k];
      if (factor != 0)
        for (int j = N; j < WIDTH; ++j) a[i][j] -= factor * a[k][j];
    }
  return 0;
}

/* The triangle of B = Q R, by Householder reflections, in the first rows of B. */
static void triangle(double (*restrict b)[N]) {
  for (int k = 0; k < N; ++k) {
    double square = 0, w[N] = {0};
    for (int i = k; i < TALL; ++i) square += b[i][k] * b[i][k];
    double length = b[k][k] > 0 ? -sqrt(square) : sqrt(square), first = b[k][k] - length;
    if (!(square > 0)) continue;
    b[k][k] = first;
    for (int i = k; i < TALL; ++i)
      for (int j = k + 1; j < N; ++j) w[j] += b[i][k] * b[i][j];
    double scale = 1 / (length * first);
    for (int j = k + 1; j < N; ++j) w[j] *= scale;
    for (int i = k; i < TALL; ++i)
      for (int j = k + 1; j < N; ++j) b[i][j] += b[i][k] * w[j];
    b[k][k] = length;
    for (int i = k + 1; i < TALL; ++i) b[i][k] = 0;
  }
}

static int predict(const State* self, double* x, double (*restrict r)[N], const double* u, double h) {
  static const double small = 1.0 / 12;
  double f[N], t[N][N], g[N][M], a[N][WIDTH], b[TALL][N], root = sqrt(h);
  if (rate(x, u, self->p, f, (double*) t, (double*) g)) return 1;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      t[i][j] *= h;
      b[i][j] = r[j][i];
    }
  for (int i = 0; i < N; ++i) {
    double square[N] = {0};
    for (int j = 0; j < WIDTH; ++j) a[i][j] = 0;
    for (int k = 0; k < N; ++k) {
      double factor = t[i][k];
      if (factor == 0) continue; /* half of the rows of T are h times unit vectors */
      for (int j = 0; j < N; ++j) square[j] += factor * t[k][j];
      for (int j = 0; j < N; ++j) a[i][N + j] += factor * b[k][j];
    }
    for (int j = 0; j < N; ++j) a[i][j] = square[j] * small - 0.5 * t[i][j];
    a[i][i] += 1;
    for (int j = 0; j < M; ++j) a[i][2 * N + j] = root * self->noise[j] * g[i][j];
    a[i][2 * N + M] = h * f[i];
  }
  if (solve(a)) return 1;
  for (int i = 0; i < N; ++i) f[i] = a[i][2 * N + M];
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) a[i][N + j] += b[i][j];
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < TALL; ++j) b[j][i] = a[i][N + j];
  triangle(b);
  memcpy(r, b, sizeof(double[N][N]));
  return moved(x, f);
}

/* The number of entries of y beyond the gate, or -1. Told are innovations, those in units of their deviations, and how many
   samples in a row were beyond the gate: a missing one neither counts nor ends the row. What is infinite is beyond any gate. */
static int correct(
    const State* self, double* x, double (*restrict r)[N], const double* u, const double* y, double* told) {
  double expected[NY], h[NY][N], delta[N] = {0};
  int beyond = 0;
  if (outputs(x, u, self->p, expected, (double*) h)) return -1;
  for (int i = 0; i < NY; ++i) {
    double phi[N] = {0}, gain[N] = {0}, variance = self->variance[i], s = variance, innovation = y[i] - expected[i];
    told[i] = told[NY + i] = NAN;
    told[2 * NY + i] = self->beyond[i];
    if (isnan(y[i])) continue;
    for (int j = 0; j < N; ++j) {
      if (h[i][j] == 0) continue;
      innovation -= h[i][j] * delta[j];
      for (int k = 0; k < N; ++k) phi[k] += h[i][j] * r[k][j];
    }
    for (int k = 0; k < N; ++k) s += phi[k] * phi[k];
    told[i] = innovation;
    told[NY + i] = innovation / sqrt(s);
    if (isinf(y[i]) || (self->gate[0] > 0 && fabs(told[NY + i]) > self->gate[0])) {
      ++beyond;
      ++told[2 * NY + i];
      continue;
    }
    told[2 * NY + i] = 0;
    for (int k = 0; k < N; ++k)
      for (int j = 0; j < N; ++j) gain[j] += phi[k] * r[k][j];
    for (int j = 0; j < N; ++j) gain[j] /= s;
    for (int j = 0; j < N; ++j) delta[j] += innovation * gain[j];
    double factor = 1 / (1 + sqrt(variance / s));
    for (int k = 0; k < N; ++k) {
      double along = factor * phi[k];
      for (int j = 0; j < N; ++j) r[k][j] -= along * gain[j];
    }
  }
  return moved(x, delta) ? -1 : beyond;
}

static int step(State* self, const double* u, const double* y, double dt) {
  double x[NX], r[N][N], told[3 * NY], sum = 0;
  memcpy(x, self->x, sizeof x);
  memcpy(r, self->R, sizeof r);
  for (int k = 0; k < SUBSTEPS; ++k)
    if (predict(self, x, r, u, dt / SUBSTEPS)) return -1;
  int beyond = correct(self, x, r, u, y, told);
  for (int i = 0; i < NX; ++i) sum += x[i];
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) sum += r[i][j];
  if (beyond < 0 || !isfinite(sum)) return -1;
  memcpy(self->x, x, sizeof x);
  memcpy(self->R, r, sizeof r);
  memcpy(self->innovation, told, sizeof self->innovation);
  memcpy(self->normalised, told + NY, sizeof self->normalised);
  memcpy(self->beyond, told + 2 * NY, sizeof self->beyond);
  return beyond;
}
