// CaDiCaL with a proof tracer, as plain C functions. The library is the one that the crate
// `cadical` builds; the two headers beside this file are its own.
#include "cadical/cadical.hpp"
#include "cadical/tracer.hpp"

#include <cstring>

namespace {

// What the Rust side does with what happens; `user` is its own.
struct Events {
  void *user;
  void (*original)(void *user, uint64_t id);
  void (*derived)(void *user, uint64_t id, const int *lits, size_t n,
                  const uint64_t *hints, size_t m);
  void (*conclude)(void *user, uint64_t id);
  int (*terminate)(void *user);
};

// Clauses that are forgotten stay in the log, so deletion, weakening and the
// return of weakened clauses are of no interest.
class Reporter : public CaDiCaL::Tracer {
  const Events &events;

public:
  explicit Reporter(const Events &events) : events(events) {}

  void add_original_clause(uint64_t id, bool, const std::vector<int> &,
                           bool restored) override {
    if (!restored) events.original(events.user, id);
  }
  void add_derived_clause(uint64_t id, bool, const std::vector<int> &clause,
                          const std::vector<uint64_t> &hints) override {
    events.derived(events.user, id, clause.data(), clause.size(),
                   hints.data(), hints.size());
  }
  void add_assumption_clause(uint64_t id, const std::vector<int> &clause,
                             const std::vector<uint64_t> &hints) override {
    events.derived(events.user, id, clause.data(), clause.size(),
                   hints.data(), hints.size());
  }
  void conclude_unsat(CaDiCaL::ConclusionType,
                      const std::vector<uint64_t> &ids) override {
    if (ids.size() == 1) events.conclude(events.user, ids[0]);
  }
};

struct Solver : CaDiCaL::Terminator {
  Events events;
  CaDiCaL::Solver solver;

  explicit Solver(const Events &given) : events(given) {
    // The solver owns the tracer.
    solver.connect_proof_tracer(new Reporter(events), true);
    solver.connect_terminator(this);
  }
  bool terminate() override { return events.terminate(events.user) != 0; }
};

} // namespace

extern "C" {

// Null unless the library is the one that the headers describe.
Solver *palisade_sat_new(const Events *events) {
  if (std::strcmp(CaDiCaL::Solver::version(), "1.9.5") != 0) return nullptr;
  return new Solver(*events);
}

void palisade_sat_delete(Solver *s) { delete s; }

void palisade_sat_clause(Solver *s, const int *lits, size_t n) {
  for (size_t i = 0; i < n; ++i) s->solver.add(lits[i]);
  s->solver.add(0);
}

// 10 for satisfiable, 20 for unsatisfiable, 0 for neither.
int palisade_sat_solve(Solver *s, const int *assumptions, size_t n, int conflicts) {
  for (size_t i = 0; i < n; ++i) s->solver.assume(assumptions[i]);
  if (conflicts >= 0) s->solver.limit("conflicts", conflicts);
  int status = s->solver.solve();
  if (status == 20) s->solver.conclude();
  return status;
}

int palisade_sat_value(Solver *s, int lit) { return s->solver.val(lit) > 0; }

int palisade_sat_failed(Solver *s, int lit) { return s->solver.failed(lit); }
}
