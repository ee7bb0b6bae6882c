// A plain C view of three domains of the Parma Polyhedra Library, for benchmarks and
// differential tests only. Numbers cross the border as 128-bit two's complement.
#include <ppl.hh>

using namespace Parma_Polyhedra_Library;

namespace {

// At its start the library makes the processor round up, for the whole process. The domains here compute with
// rationals and need none of that; everything else in the process needs the usual rounding.
struct UsualRounding {
  UsualRounding() { restore_pre_PPL_rounding(); }
} usual_rounding;

struct Wide {
  uint64_t lo;
  int64_t hi;
};

struct Linear {
  uint32_t terms;
  const uint32_t *vars;
  const Wide *coefficients;
  Wide constant;
};

typedef void (*Visit)(void *user, int relation, const Linear *expression);
enum { LE = 0, LT = 1, EQ = 2, NEW_DISJUNCT = 3 };

mpz_class to_mpz(const Wide &w) {
  mpz_class high(static_cast<long>(w.hi)), low(static_cast<unsigned long>(w.lo));
  return (high << 64) + low;
}

bool to_wide(const mpz_class &z, Wide &out) {
  static const mpz_class limit = mpz_class(1) << 126;
  if (abs(z) >= limit) return false;
  mpz_class high;
  mpz_fdiv_q_2exp(high.get_mpz_t(), z.get_mpz_t(), 64);
  mpz_class low = z - (high << 64);
  out.lo = low.get_ui();
  out.hi = high.get_si();
  return true;
}

Linear_Expression to_expression(const Linear &e) {
  Linear_Expression out(Coefficient(to_mpz(e.constant)));
  for (uint32_t i = 0; i < e.terms; ++i)
    add_mul_assign(out, Coefficient(to_mpz(e.coefficients[i])), Variable(e.vars[i]));
  return out;
}

Constraint to_constraint(const Linear &e, int relation, bool strict_allowed) {
  Linear_Expression x = to_expression(e);
  if (relation == EQ) return x == 0;
  if (relation == LT && strict_allowed) return x < 0;
  return x <= 0;
}

void visit_constraints(const Constraint_System &cs, Visit visit, void *user) {
  for (Constraint_System::const_iterator i = cs.begin(); i != cs.end(); ++i) {
    std::vector<uint32_t> vars;
    std::vector<Wide> coefficients;
    bool fits = true;
    for (dimension_type d = 0; d < i->space_dimension() && fits; ++d) {
      // PPL says e >= 0, we say -e <= 0.
      mpz_class c = -mpz_class(i->coefficient(Variable(d)));
      Wide w;
      fits = to_wide(c, w);
      if (c != 0) {
        vars.push_back(static_cast<uint32_t>(d));
        coefficients.push_back(w);
      }
    }
    Linear e;
    fits = fits && to_wide(-mpz_class(i->inhomogeneous_term()), e.constant);
    if (!fits) continue;
    e.terms = static_cast<uint32_t>(vars.size());
    e.vars = vars.data();
    e.coefficients = coefficients.data();
    visit(user, i->is_equality() ? EQ : i->is_strict_inequality() ? LT : LE, &e);
  }
}

// What differs between the three domains.
void widen(C_Polyhedron &x, const C_Polyhedron &previous) { x.H79_widening_assign(previous); }
void widen(Rational_Box &x, const Rational_Box &previous) { x.widening_assign(previous); }

typedef Pointset_Powerset<Rational_Box> Power_Box;
void widen(Power_Box &x, const Power_Box &previous) {
  // Boxes have no certificate in PPL; the extrapolation with bounded disjuncts is its offer.
  x.BGP99_extrapolation_assign(previous, widen_fun_ref(&Rational_Box::widening_assign), 32);
}

void visit(const C_Polyhedron &x, Visit v, void *user) {
  v(user, NEW_DISJUNCT, nullptr);
  visit_constraints(x.minimized_constraints(), v, user);
}
void visit(const Rational_Box &x, Visit v, void *user) {
  v(user, NEW_DISJUNCT, nullptr);
  visit_constraints(x.constraints(), v, user);
}
void visit(const Power_Box &x, Visit v, void *user) {
  for (Power_Box::const_iterator i = x.begin(); i != x.end(); ++i) visit(i->pointset(), v, user);
}

bool covers(const C_Polyhedron &x, const C_Polyhedron &y) { return x.contains(y); }
bool covers(const Rational_Box &x, const Rational_Box &y) { return x.contains(y); }
bool covers(const Power_Box &x, const Power_Box &y) { return y.definitely_entails(x); }

uint64_t disjuncts(const C_Polyhedron &) { return 1; }
uint64_t disjuncts(const Rational_Box &) { return 1; }
uint64_t disjuncts(const Power_Box &x) { return x.size(); }

const bool strict_polyhedra = false, strict_boxes = true;

}  // namespace

// 0 unbounded, 1 an end that belongs, 2 an end that does not, 3 a number too wide.
template <typename T>
static int bound(const T *x, const Linear *e, bool upper, Wide *num, Wide *den) {
  Coefficient n, d;
  bool reached;
  Linear_Expression le = to_expression(*e);
  bool finite = upper ? x->maximize(le, n, d, reached) : x->minimize(le, n, d, reached);
  if (!finite) return 0;
  if (!to_wide(mpz_class(n), *num) || !to_wide(mpz_class(d), *den)) return 3;
  return reached ? 1 : 2;
}

#define DOMAIN(P, T, STRICT)                                                                          \
  extern "C" {                                                                                       \
  T *P##_new(uint32_t dims, int full) { return new T(dims, full ? UNIVERSE : EMPTY); }               \
  T *P##_clone(const T *x) { return new T(*x); }                                                     \
  void P##_free(T *x) { delete x; }                                                                  \
  uint32_t P##_dims(const T *x) { return static_cast<uint32_t>(x->space_dimension()); }              \
  void P##_embed(T *x, uint32_t more) { x->add_space_dimensions_and_embed(more); }                   \
  int P##_is_empty(const T *x) { return x->is_empty(); }                                             \
  int P##_covers(const T *x, const T *y) { return covers(*x, *y); }                                  \
  void P##_join(T *x, const T *y) { x->upper_bound_assign(*y); }                                     \
  void P##_meet(T *x, const T *y) { x->intersection_assign(*y); }                                    \
  void P##_widen(T *x, const T *previous) { widen(*x, *previous); }                                  \
  void P##_assume(T *x, const Linear *e, int relation) {                                             \
    x->refine_with_constraint(to_constraint(*e, relation, STRICT));                                  \
  }                                                                                                  \
  void P##_assign(T *x, uint32_t var, const Linear *e, Wide denominator) {                           \
    x->affine_image(Variable(var), to_expression(*e), Coefficient(to_mpz(denominator)));             \
  }                                                                                                  \
  void P##_forget(T *x, uint32_t var) { x->unconstrain(Variable(var)); }                             \
  int P##_bound(const T *x, const Linear *e, int upper, Wide *num, Wide *den) {                      \
    return bound(x, e, upper, num, den);                                                             \
  }                                                                                                  \
  void P##_visit(const T *x, Visit v, void *user) { visit(*x, v, user); }                            \
  uint64_t P##_disjuncts(const T *x) { return disjuncts(*x); }                                       \
  }

DOMAIN(ppl_poly, C_Polyhedron, strict_polyhedra)
DOMAIN(ppl_box, Rational_Box, strict_boxes)
DOMAIN(ppl_boxes, Power_Box, strict_boxes)
