/* A quadratic program of stages by HPIPM, with x_0 eliminated and soft limits of x and rows.

   Blocks are dense and column-major, one after the other for each stage. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "blasfeo_target.h"
#include "blasfeo_common.h"
#include "blasfeo_d_aux.h"
#include "hpipm_d_ocp_qp_dim.h"
#include "hpipm_d_ocp_qp.h"
#include "hpipm_d_ocp_qp_sol.h"
#include "hpipm_d_ocp_qp_ipm.h"

enum { MOST = 256 };
typedef struct {
  int n, nx[MOST], nu[MOST], nbx[MOST], nbu[MOST], ng[MOST], ns[MOST];
  struct d_ocp_qp_dim dim;
  struct d_ocp_qp qp;
  struct d_ocp_qp_sol sol;
  struct d_ocp_qp_ipm_arg arg;
  struct d_ocp_qp_ipm_ws ws;
} Solver;

static void* memory(size_t size) {
  void* p = 0;
  if (posix_memalign(&p, 64, size)) abort();
  return memset(p, 0, size);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Limits of x are of its entries idxbx, nbx of them, and those of u of idxbu; limits of x and rows are soft. */
void* hpipm_new(int n, int nx, int nu, int nbx, int* idxbx, int nbu, int* idxbu, int ng, int mode) {
  Solver* s = memory(sizeof(Solver));
  int idxs[MOST];
  s->n = n;
  for (int k = 0; k <= n; ++k) {
    s->nx[k] = k ? nx : 0, s->nu[k] = k < n ? nu : 0, s->nbx[k] = k ? nbx : 0, s->nbu[k] = k < n ? nbu : 0;
    s->ng[k] = ng, s->ns[k] = s->nbx[k] + ng;
  }
  d_ocp_qp_dim_create(n, &s->dim, memory(d_ocp_qp_dim_memsize(n)));
  d_ocp_qp_dim_set_all(s->nx, s->nu, s->nbx, s->nbu, s->ng, s->ns, &s->dim);
  d_ocp_qp_create(&s->dim, &s->qp, memory(d_ocp_qp_memsize(&s->dim)));
  d_ocp_qp_sol_create(&s->dim, &s->sol, memory(d_ocp_qp_sol_memsize(&s->dim)));
  d_ocp_qp_ipm_arg_create(&s->dim, &s->arg, memory(d_ocp_qp_ipm_arg_memsize(&s->dim)));
  d_ocp_qp_ipm_arg_set_default((enum hpipm_mode) mode, &s->arg);
  d_ocp_qp_ipm_ws_create(&s->dim, &s->arg, &s->ws, memory(d_ocp_qp_ipm_ws_memsize(&s->dim, &s->arg)));
  for (int k = 0; k <= n; ++k) {
    if (s->nbx[k]) d_ocp_qp_set("idxbx", k, idxbx, &s->qp);
    if (s->nbu[k]) d_ocp_qp_set("idxbu", k, idxbu, &s->qp);
    for (int i = 0; i < s->ns[k]; ++i) idxs[i] = s->nbu[k] + i;
    if (s->ns[k]) d_ocp_qp_set("idxs", k, idxs, &s->qp);
  }
  return s;
}

/* The arrays of `names`, with so many numbers a stage; found receives the status, the iterations and the seconds. */
void hpipm_solve(Solver* s, int count, char** names, double** arrays, const int64_t* steps, int most, double tolerance,
                 double* x, double* u, double* found) {
  for (int i = 0; i < count; ++i)
    for (int k = 0; k <= s->n; ++k) {
      char* name = names[i];
      int of_x = strchr("AQSqC", name[0]) || strstr(name, "bx"), of_u = strchr("BSRrD", name[0]) || strstr(name, "bu");
      int of_g = strstr(name, "lg") || strstr(name, "ug") || !strcmp(name, "C") || !strcmp(name, "D");
      int of_next = !strcmp(name, "A") || !strcmp(name, "B") || !strcmp(name, "b");
      if ((of_x && !s->nx[k]) || (of_u && !s->nu[k]) || (of_g && !s->ng[k]) || (of_next && k == s->n)) continue;
      if ((strstr(name, "bx") && !s->nbx[k]) || (strstr(name, "bu") && !s->nbu[k])) continue;
      if ((name[0] == 'Z' || name[0] == 'z') && !s->ns[k]) continue;
      int back = name[0] == 'Z' || name[0] == 'z' ? (int) steps[i] - s->ns[k] : 0; /* those of x_0 are not there */
      d_ocp_qp_set(name, k, arrays[i] + steps[i] * k + back, &s->qp);
    }
  d_ocp_qp_ipm_arg_set_iter_max(&most, &s->arg);
  d_ocp_qp_ipm_arg_set_tol_stat(&tolerance, &s->arg), d_ocp_qp_ipm_arg_set_tol_eq(&tolerance, &s->arg);
  d_ocp_qp_ipm_arg_set_tol_ineq(&tolerance, &s->arg), d_ocp_qp_ipm_arg_set_tol_comp(&tolerance, &s->arg);
  double begin = now();
  d_ocp_qp_ipm_solve(&s->qp, &s->sol, &s->arg, &s->ws);
  found[2] = now() - begin;
  int status, iterations;
  d_ocp_qp_ipm_get_status(&s->ws, &status), d_ocp_qp_ipm_get_iter(&s->ws, &iterations);
  found[0] = status, found[1] = iterations;
  for (int k = 0; k <= s->n; ++k) {
    if (s->nx[k]) d_ocp_qp_sol_get_x(k, &s->sol, x + s->nx[k] * k);
    if (s->nu[k]) d_ocp_qp_sol_get_u(k, &s->sol, u + s->nu[k] * k);
  }
}
