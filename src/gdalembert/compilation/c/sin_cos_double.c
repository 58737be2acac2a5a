/* Sine and cosine to about 1 ulp, of the same bits on every processor that does not fuse products and sums: x = n pi/2 + r +
   low with |r| <= pi/4, where the parts of pi/2 have 33 bits, so that n times a part is exact (Cody, Waite 1980); the
   polynomials, and the parts, are those of fdlibm (Sun Microsystems 1993). */
static void sin_cos(double x, double* sine, double* cosine) {
  if (!(fabs(x) <= 8e5)) {
    *sine = sin(x);
    *cosine = cos(x);
    return;
  }
  const int32_t turns = (int32_t) (x * 6.36619772367581382433e-01 + (x < 0.0 ? -0.5 : 0.5));
  const double n = (double) turns, first = x - n * 1.57079632673412561417e+00, second = n * 6.07710050630396597660e-11;
  const double rest = first - second, third = ((first - rest) - second) - n * 2.02226624879595063154e-21;
  const double r = rest + third, low = third + (rest - r), z = r * r, cube = z * r, half = 0.5 * z, q = 1.0 - half;
  double s = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10;
  s = -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * s);
  s = 8.33333333332248946124e-03 + z * s;
  s = r - ((z * (0.5 * low - cube * s) - low) + cube * 1.66666666666666324348e-01);
  double c = 2.08757232129817482790e-09 + z * -1.13596475577881948265e-11;
  c = 2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * c);
  c = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * c);
  c = q + (((1.0 - q) - half) + (z * (z * c) - r * low));
  const uint32_t quadrant = (uint32_t) turns & 3u;
  *sine = quadrant == 0u ? s : quadrant == 1u ? c : quadrant == 2u ? -s : -c;
  *cosine = quadrant == 0u ? c : quadrant == 1u ? -s : quadrant == 2u ? -c : s;
}
