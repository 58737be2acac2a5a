// Pinocchio's algorithms as a library for native.py: a loop over states, and the results of all of them.
#include <map>
#include <string>
#include <vector>

#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>

namespace pin = pinocchio;
using Vector = Eigen::Ref<const Eigen::VectorXd>;  // what the library of the wheel is compiled for
using Matrix = Eigen::MatrixXd;

// The result is what of data a caller reads; the lower triangle of M and of its inverse is filled here, outside the loop.
struct Algorithm {
  void (*call)(const pin::Model&, pin::Data&, const Vector& q, const Vector& v, const Vector& a);
  std::vector<Matrix> (*result)(const pin::Data&);
};

static Matrix full(const Matrix& upper) { return upper.selfadjointView<Eigen::Upper>(); }

#define CALL(expression) [](const pin::Model& model, pin::Data& data, const Vector& q, const Vector& v, \
                            const Vector& a) { (void)v, (void)a, expression; }
#define RESULT(...) [](const pin::Data& data) { return std::vector<Matrix>{__VA_ARGS__}; }

// By the name of our Function and, where there are two, Pinocchio's convention; a is tau of forward dynamics.
static const std::map<std::string, Algorithm> algorithms = {
    {"inverse_dynamics", {CALL(pin::rnea(model, data, q, v, a)), RESULT(data.tau)}},
    {"mass_matrix LOCAL", {CALL(pin::crba(model, data, q, pin::Convention::LOCAL)), RESULT(full(data.M))}},
    {"mass_matrix WORLD", {CALL(pin::crba(model, data, q, pin::Convention::WORLD)), RESULT(full(data.M))}},
    {"coriolis_matrix", {CALL(pin::computeCoriolisMatrix(model, data, q, v)), RESULT(data.C)}},
    {"forward_dynamics LOCAL", {CALL(pin::aba(model, data, q, v, a, pin::Convention::LOCAL)), RESULT(data.ddq)}},
    {"forward_dynamics WORLD", {CALL(pin::aba(model, data, q, v, a, pin::Convention::WORLD)), RESULT(data.ddq)}},
    {"inverse_dynamics_derivatives",
     {CALL(pin::computeRNEADerivatives(model, data, q, v, a)), RESULT(data.dtau_dq, data.dtau_dv)}},
    {"forward_dynamics_derivatives",
     {CALL(pin::computeABADerivatives(model, data, q, v, a)), RESULT(data.ddq_dq, data.ddq_dv, full(data.Minv))}},
};

struct Task {
  pin::Model model;
  pin::Data data;
  Algorithm algorithm;
  long n;
  const double *q, *v, *a;  // rows, one for each state

  Task(const pin::Model& model, const Algorithm& algorithm, long n, const double* q, const double* v, const double* a)
      : model(model), data(model), algorithm(algorithm), n(n), q(q), v(v), a(a) {}

  void state(long k) {
    const auto row = [k](const double* rows, int size) { return Eigen::Map<const Eigen::VectorXd>(rows + k * size, size); };
    algorithm.call(model, data, row(q, model.nq), row(v, model.nv), row(a, model.nv));
  }
};

extern "C" void* new_task(const char* path, const char* algorithm, long n, const double* q, const double* v, const double* a) {
  pin::Model model;
  model.loadFromText(path);
  return new Task(model, algorithms.at(algorithm), n, q, v, a);
}

extern "C" long long run(Task* task) {
  for (long k = 0; k < task->n; ++k) task->state(k);
  return 0;
}

extern "C" void results(Task* task, double* const* out) {
  for (long k = 0; k < task->n; ++k) {
    task->state(k);
    const auto matrices = task->algorithm.result(task->data);
    for (std::size_t i = 0; i < matrices.size(); ++i)
      Eigen::Map<Matrix>(out[i] + k * matrices[i].size(), matrices[i].cols(), matrices[i].rows()) = matrices[i].transpose();
  }
}
