/* Sine and cosine to about 1 ulp, of the same bits on every processor that does not fuse products and sums: x = n pi/2 + r +
   low with |r| <= pi/4, where the parts of pi/2 have 11 bits and n has 13, so that n times a part is exact (Cody, Waite
   1980); the polynomials are those of Cephes (Moshier 1989). */
static void sin_cos(float x, float* sine, float* cosine) {
  if (!(fabsf(x) <= 8e3f)) {
    *sine = sinf(x);
    *cosine = cosf(x);
    return;
  }
  const int32_t turns = (int32_t) (x * 0.636619772f + (x < 0.0f ? -0.5f : 0.5f));
  const float n = (float) turns, second = n * 7.549533620476723e-8f;
  const float first = x - n * 1.5703125f - n * 4.837512969970703e-4f;
  const float rest = first - second, third = ((first - rest) - second) - n * 2.5633440682570896e-12f;
  const float r = rest + third, low = third + (rest - r), z = r * r, cube = z * r, half = 0.5f * z, q = 1.0f - half;
  const float s = r + (low + cube * (-1.6666654611e-1f + z * (8.3321608736e-3f + z * -1.9515295891e-4f)));
  float c = 4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f);
  c = q + (((1.0f - q) - half) + (z * (z * c) - r * low));
  const uint32_t quadrant = (uint32_t) turns & 3u;
  *sine = quadrant == 0u ? s : quadrant == 1u ? c : quadrant == 2u ? -s : -c;
  *cosine = quadrant == 0u ? c : quadrant == 1u ? -s : quadrant == 2u ? -c : s;
}
