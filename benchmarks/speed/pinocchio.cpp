// Pinocchio's algorithms beside compiled Functions, in one process without Python: rounds that take turns, by the time
// that the thread has had a processor. The job is a text file, written by native.py; the answer goes to standard output.
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
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
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Result = std::vector<Matrix>;  // a row for each state

static double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static Matrix read(const std::string& path, Eigen::Index rows) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  const double* numbers = reinterpret_cast<const double*>(bytes.data());
  const Eigen::Index columns = bytes.size() / sizeof(double) / rows;
  return Eigen::Map<const Matrix>(numbers, rows, columns);
}

// What of data is the result of an algorithm; the lower triangle of M is filled here, ours is full.
struct Reference {
  std::function<void(const pin::Model&, pin::Data&, const Matrix&, const Matrix&, const Matrix&, Eigen::Index)> call;
  std::function<std::vector<Eigen::MatrixXd>(pin::Data&)> outputs;
};

static std::vector<Eigen::MatrixXd> full(const Eigen::MatrixXd& upper) {
  return {Eigen::MatrixXd(upper.selfadjointView<Eigen::Upper>())};
}

#define STATE q.row(k).transpose(), v.row(k).transpose(), a.row(k).transpose()
#define REFERENCE(algorithm) [](const pin::Model& model, pin::Data& data, const Matrix& q, const Matrix& v, \
                                const Matrix& a, Eigen::Index k) { (void)v, (void)a; algorithm; }

static const std::map<std::string, Reference> references = {
    {"inverse_dynamics", {REFERENCE(pin::rnea(model, data, STATE)),
                          [](pin::Data& data) { return std::vector<Eigen::MatrixXd>{data.tau}; }}},
    {"mass_matrix", {REFERENCE(pin::crba(model, data, q.row(k).transpose(), pin::Convention::LOCAL)),
                     [](pin::Data& data) { return full(data.M); }}},
    {"mass_matrix WORLD", {REFERENCE(pin::crba(model, data, q.row(k).transpose(), pin::Convention::WORLD)),
                           [](pin::Data& data) { return full(data.M); }}},
    {"coriolis_matrix", {REFERENCE(pin::computeCoriolisMatrix(model, data, q.row(k).transpose(), v.row(k).transpose())),
                         [](pin::Data& data) { return std::vector<Eigen::MatrixXd>{data.C}; }}},
    {"forward_dynamics", {REFERENCE(pin::aba(model, data, STATE, pin::Convention::LOCAL)),
                          [](pin::Data& data) { return std::vector<Eigen::MatrixXd>{data.ddq}; }}},
    {"forward_dynamics WORLD", {REFERENCE(pin::aba(model, data, STATE, pin::Convention::WORLD)),
                                [](pin::Data& data) { return std::vector<Eigen::MatrixXd>{data.ddq}; }}},
    {"inverse_dynamics_derivatives",
     {REFERENCE(pin::computeRNEADerivatives(model, data, STATE)),
      [](pin::Data& data) { return std::vector<Eigen::MatrixXd>{data.dtau_dq, data.dtau_dv}; }}},
    {"forward_dynamics_derivatives",
     {REFERENCE(pin::computeABADerivatives(model, data, STATE)),
      [](pin::Data& data) {
        return std::vector<Eigen::MatrixXd>{data.ddq_dq, data.ddq_dv, full(data.Minv)[0]};
      }}},
};

// A library of gd.compile: all states in one call.
struct Compiled {
  using Many = int64_t (*)(const int64_t*);
  Many many;
  std::vector<int64_t> task;

  Compiled(const std::string& path, Eigen::Index n, const std::vector<const Matrix*>& inputs, Result& outputs) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
    many = reinterpret_cast<Many>(dlsym(library, "gdalembert_together"));
    task.push_back(n);
    for (const Matrix* x : inputs) add(*x);
    for (const Matrix& y : outputs) add(y);
  }
  void add(const Matrix& x) {
    task.push_back(reinterpret_cast<int64_t>(x.data()));
    task.push_back(x.cols());
  }
  void operator()() const {
    if (many(task.data())) throw std::runtime_error("a state fails");
  }
};

// Lines: name, model, n, rounds, nq, paths of q, v, a; number and paths of libraries; inputs; numbers of columns.
int main(int, char** argv) {
  std::ifstream job(argv[1]);
  std::string function, model_path, q_path, v_path, a_path, letters;
  Eigen::Index n;
  int rounds, ways, results;
  job >> model_path >> n >> rounds >> q_path >> v_path >> a_path >> function >> letters >> ways;
  std::vector<std::string> libraries(ways);
  for (auto& path : libraries) job >> path;
  job >> results;
  std::vector<Eigen::Index> columns(results);
  for (auto& count : columns) job >> count;

  pin::Model model;
  model.loadFromText(model_path);
  pin::Data data(model);
  const Matrix q = read(q_path, n), v = read(v_path, n), a = read(a_path, n);
  const std::map<char, const Matrix*> given = {{'q', &q}, {'v', &v}, {'a', &a}, {'u', &a}};
  std::vector<const Matrix*> inputs;
  for (char letter : letters) inputs.push_back(given.at(letter));

  std::vector<std::pair<std::string, std::function<void()>>> contestants;
  for (const auto& entry : references) {
    if (entry.first.compare(0, function.size() + 1, (function + " ").substr(0, entry.first.size())) != 0 &&
        entry.first != function)
      continue;
    const Reference& reference = entry.second;
    contestants.emplace_back(entry.first, [&, call = reference.call] {
      for (Eigen::Index k = 0; k < n; ++k) call(model, data, q, v, a, k);
    });
  }
  std::vector<Result> outputs(ways);
  for (int way = 0; way < ways; ++way) {
    for (Eigen::Index count : columns) outputs[way].emplace_back(Matrix::Zero(n, count));
    contestants.emplace_back("ours " + std::to_string(way), Compiled(libraries[way], n, inputs, outputs[way]));
  }

  // outputs first
  double worst = 0;
  const Reference& reference = references.at(function);
  for (int way = 0; way < ways; ++way) contestants[contestants.size() - ways + way].second();
  for (Eigen::Index k = 0; k < n; ++k) {
    reference.call(model, data, q, v, a, k);
    const auto wanted = reference.outputs(data);
    for (int way = 0; way < ways; ++way)
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const Eigen::Map<const Matrix> found(outputs[way][i].row(k).data(), wanted[i].rows(), wanted[i].cols());
        worst = std::max(worst, (found - wanted[i]).cwiseAbs().maxCoeff() / std::max(1.0, wanted[i].cwiseAbs().maxCoeff()));
      }
  }
  std::cout << "error " << worst << "\n";
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const auto& [name, call] = contestants[(i + round + 1) % contestants.size()];
      const double start = now();
      call();
      if (round >= 0) std::cout << "time\t" << name << "\t" << (now() - start) / n << "\n";
    }
  }
}
