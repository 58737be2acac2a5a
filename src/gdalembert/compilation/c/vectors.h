/* Vectors of as many numbers as a register of this machine holds, and CasADi's operations on them. REAL is double or
   float. */
#include <math.h>
#include <stdint.h>

#ifdef WIDTH /* given by a flag */
#elif defined __AVX512F__
#define WIDTH (64 / BYTES)
#elif defined __AVX2__
#define WIDTH (32 / BYTES)
#else
#define WIDTH (16 / BYTES)
#endif
#if WIDTH == 16
#define ALL(c) ((V) {c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c})
#elif WIDTH == 8
#define ALL(c) ((V) {c, c, c, c, c, c, c, c})
#elif WIDTH == 4
#define ALL(c) ((V) {c, c, c, c})
#else
#define ALL(c) ((V) {c, c})
#endif

typedef REAL V __attribute__((vector_size(BYTES * WIDTH)));
typedef REAL U __attribute__((vector_size(BYTES * WIDTH), aligned(BYTES), may_alias)); /* in an array */
typedef double D __attribute__((vector_size(BYTES * WIDTH)));
typedef int64_t L __attribute__((vector_size(BYTES * WIDTH)));
#define EACH(c) ((D) {0} + (c)) /* a constant */
#if BYTES == 4
typedef int32_t I __attribute__((vector_size(BYTES * WIDTH)));
#else
typedef L I;
#endif

#define SIGN ((I) ALL(-0.0))
#define TRUE ((I) ALL(1.0))

/* a where the mask is set, b elsewhere. */
static inline V v_pick(I mask, V a, V b) { return (V) (((I) a & mask) | ((I) b & ~mask)); }
static inline V v_if_else_zero(V a, V b) { return (V) ((I) b & (a != ALL(0.0))); }
static inline V v_lt(V a, V b) { return (V) (TRUE & (a < b)); }
static inline V v_le(V a, V b) { return (V) (TRUE & (a <= b)); }
static inline V v_eq(V a, V b) { return (V) (TRUE & (a == b)); }
static inline V v_ne(V a, V b) { return (V) (TRUE & (a != b)); }
static inline V v_not(V a) { return v_eq(a, ALL(0.0)); }
static inline V v_and(V a, V b) { return (V) (TRUE & (a != ALL(0.0)) & (b != ALL(0.0))); }
static inline V v_or(V a, V b) { return (V) (TRUE & ((a != ALL(0.0)) | (b != ALL(0.0)))); }
static inline V v_fabs(V a) { return (V) ((I) a & ~SIGN); }
static inline V v_copysign(V a, V b) { return (V) (((I) a & ~SIGN) | ((I) b & SIGN)); }
static inline V v_sign(V a) { return v_pick((a < ALL(0.0)) | (a > ALL(0.0)), v_copysign(ALL(1.0), a), a); }
static inline V v_fmin(V a, V b) { return v_pick((a < b) | (b != b), a, b); }
static inline V v_fmax(V a, V b) { return v_pick((a > b) | (b != b), a, b); }

/* Functions of libm, one state after the other. */
#define OF_ONE(f) static __attribute__((noinline, unused)) V v_##f(V a) { \
    for (int l = 0; l < WIDTH; ++l) a[l] = f(a[l]); \
    return a; \
  }
#define OF_TWO(f) static __attribute__((noinline, unused)) V v_##f(V a, V b) { \
    for (int l = 0; l < WIDTH; ++l) a[l] = f(a[l], b[l]); \
    return a; \
  }
OF_ONE(sqrt) OF_ONE(exp) OF_ONE(expm1) OF_ONE(log) OF_ONE(log1p) OF_ONE(erf) OF_ONE(floor) OF_ONE(ceil)
OF_ONE(tan) OF_ONE(asin) OF_ONE(acos) OF_ONE(atan)
OF_ONE(sinh) OF_ONE(cosh) OF_ONE(tanh) OF_ONE(asinh) OF_ONE(acosh) OF_ONE(atanh)
OF_TWO(pow) OF_TWO(atan2) OF_TWO(hypot) OF_TWO(fmod) OF_TWO(remainder)

static inline D d_pick(L mask, D a, D b) { return (D) (((L) a & mask) | ((L) b & ~mask)); }
static inline D d_fabs(D a) { return (D) ((L) a & INT64_MAX); }

/* Sine and cosine of angles up to LARGEST_ANGLE, to about 1 ulp; of others, and of what is not finite, `large` is set.

   x = n pi/2 + r + low with |r| < pi/4. The parts of pi/2 have 33 bits, so that n times a part is exact (Cody, Waite 1980);
   the polynomials, and the parts, are those of fdlibm (Sun Microsystems 1993). */
#define LARGEST_ANGLE 8e5

static inline __attribute__((always_inline)) void d_sincos(D x, D* sine, D* cosine, L* large) {
  const D round = EACH(6755399441055744.0); /* 1.5 2^52: the last bits of the sum are an integer */
  D shifted = x * EACH(6.36619772367581382433e-01) + round, n = shifted - round;
  D first = x - n * EACH(1.57079632673412561417e+00), second = n * EACH(6.07710050630396597660e-11);
  D rest = first - second, low = ((first - rest) - second) - n * EACH(2.02226624879595063154e-21);
  D r = rest + low, z = r * r, cube = z * r, half = EACH(0.5) * z, q = EACH(1.0) - half;
  L quadrant = (L) shifted, odd = -(quadrant & 1);
  low += rest - r;
  D s = EACH(-2.50507602534068634195e-08) + z * EACH(1.58969099521155010221e-10);
  s = EACH(-1.98412698298579493134e-04) + z * (EACH(2.75573137070700676789e-06) + z * s);
  s = EACH(8.33333333332248946124e-03) + z * s;
  s = r - ((z * (EACH(0.5) * low - cube * s) - low) + cube * EACH(1.66666666666666324348e-01));
  D c = EACH(2.08757232129817482790e-09) + z * EACH(-1.13596475577881948265e-11);
  c = EACH(2.48015872894767294178e-05) + z * (EACH(-2.75573143513906633035e-07) + z * c);
  c = EACH(4.16666666666666019037e-02) + z * (EACH(-1.38888888888741095749e-03) + z * c);
  c = q + (((EACH(1.0) - q) - half) + (z * (z * c) - r * low));
  *sine = (D) ((L) d_pick(odd, c, s) ^ ((quadrant & 2) << 62));
  *cosine = (D) ((L) d_pick(odd, s, c) ^ (((quadrant + 1) & 2) << 62));
  *large |= ~(d_fabs(x) <= EACH(LARGEST_ANGLE));
}

#if BYTES == 8
#define v_sincos d_sincos
#else
#define LARGEST_FLOAT 8e3f

/* As d_sincos: the parts of pi/2 have 11 bits and n has 13; the polynomials are those of Cephes (Moshier 1989). */
static inline __attribute__((always_inline)) void v_sincos(V x, V* sine, V* cosine, I* large) {
  const V round = ALL(12582912.0f); /* 1.5 2^23 */
  V shifted = x * ALL(0.636619772f) + round, n = shifted - round;
  V first = x - n * ALL(1.5703125f) - n * ALL(4.837512969970703e-4f), second = n * ALL(7.549533620476723e-8f);
  V rest = first - second, low = ((first - rest) - second) - n * ALL(2.5633440682570896e-12f);
  V r = rest + low, z = r * r, cube = z * r, half = ALL(0.5f) * z, q = ALL(1.0f) - half;
  I quadrant = (I) shifted, odd = -(quadrant & 1);
  low += rest - r;
  V s = ALL(8.3321608736e-3f) + z * ALL(-1.9515295891e-4f);
  s = r + (low + cube * (ALL(-1.6666654611e-1f) + z * s));
  V c = ALL(4.166664568298827e-2f) + z * (ALL(-1.388731625493765e-3f) + z * ALL(2.443315711809948e-5f));
  c = q + (((ALL(1.0f) - q) - half) + (z * (z * c) - r * low));
  *sine = (V) ((I) v_pick(odd, c, s) ^ ((quadrant & 2) << 30));
  *cosine = (V) ((I) v_pick(odd, s, c) ^ (((quadrant + 1) & 2) << 30));
  *large |= ~(v_fabs(x) <= ALL(LARGEST_FLOAT));
}
#endif

static __attribute__((noinline, unused)) void v_sincos_called(V x, V* sine, V* cosine, I* large) {
  v_sincos(x, sine, cosine, large);
}
