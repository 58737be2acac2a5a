/* One state of a Function whose sines and cosines are the last two inputs of CasADi's code: all of them at once. */
static int evaluate(const casadi_real** arg, casadi_real** res, casadi_int* iw, casadi_real* w, int mem) {
  int k;
#ifdef VECTORS
  enum { LANES = sizeof(D) / sizeof(double), BLOCKS = (ANGLES + LANES - 1) / LANES };
  D blocks[3 * BLOCKS] = {{0}};
  L large = {0};
  double *x = (double*) blocks, *sines = x + LANES * BLOCKS, *cosines = sines + LANES * BLOCKS;
  gdalembert_angles(arg, &x, iw, w, mem);
  for (k = 0; k < BLOCKS; ++k) d_sincos(blocks[k], blocks + BLOCKS + k, blocks + 2 * BLOCKS + k, &large);
  for (k = 1; k < LANES; ++k) large[0] |= large[k];
  for (k = 0; large[0] && k < ANGLES; ++k)
    if (!(fabs(x[k]) <= LARGEST_ANGLE)) sines[k] = sin(x[k]), cosines[k] = cos(x[k]);
#else
  double all[3 * ANGLES], *x = all, *sines = x + ANGLES, *cosines = sines + ANGLES;
  gdalembert_angles(arg, &x, iw, w, mem);
  for (k = 0; k < ANGLES; ++k) sines[k] = sin(x[k]), cosines[k] = cos(x[k]);
#endif
  arg[N_IN] = sines, arg[N_IN + 1] = cosines;
  return gdalembert_evaluate(arg, res, iw, w, mem);
}
