//! The abstract interpreter of the measurement: Bourdoncle's recursive strategy over the blocks of a
//! function, widening at loop heads, and a clock around every operation of the domain.

use super::flow::{Action, Flow, Loop};
use palisade_domains::{Dim, NumericDomain};
use std::time::Duration;

/// Visits of a loop head before it is widened (section 6: "we delay widening until the 3rd iteration").
const DELAY: usize = 3;

/// CPU time spent in the operations of a domain.
#[derive(Clone, Copy, Default, Debug)]
pub struct Clock {
    /// Order, join, emptiness.
    pub basic: Duration,
    /// Assignments, guards, projection.
    pub image: Duration,
    /// Widening.
    pub widen: Duration,
}

impl Clock {
    fn time<T>(slot: &mut Duration, op: impl FnOnce() -> T) -> T {
        let start = cpu_time();
        let result = op();
        *slot += cpu_time() - start;
        result
    }
}

/// CPU time of this thread so far. The machine may be busy with other things, and the clock of the
/// process is coarse while its time is limited.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec, and the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec.clamp(0, 999_999_999) as u32)
}

/// What an analysis found.
pub struct Found<D> {
    /// The invariant of each loop head, in the order of [`Flow::loops`]; `None` if it is not reached.
    pub invariants: Vec<Option<D>>,
    /// What it cost.
    pub clock: Clock,
    /// How often a loop head was widened.
    pub widenings: u64,
    /// For each check whether it cannot fail.
    pub proved: Vec<bool>,
}

struct Run<'f, D: NumericDomain> {
    flow: &'f Flow,
    /// The state at the end of each way, from the last time that it was taken.
    at_end: Vec<Option<D>>,
    clock: Clock,
    /// Whether the checks held when they were passed the last time, which is with the invariants.
    proved: Vec<bool>,
}

/// A loop that is being iterated.
struct Open<'f, D> {
    number: usize,
    inside: &'f Loop,
    state: Option<D>,
    rounds: usize,
}

/// Computes the invariants of all loop heads.
pub fn analyse<D: NumericDomain>(flow: &Flow, context: &D::Ctx) -> Found<D> {
    let mut run = Run::<D> {
        flow,
        at_end: vec![None; flow.ways.len()],
        clock: Clock::default(),
        proved: vec![true; flow.checks],
    };
    let mut invariants: Vec<Option<D>> = vec![None; flow.loops.len()];
    let mut widenings = 0;
    let mut open: Vec<Open<'_, D>> = Vec::new();
    let mut block = 0;
    loop {
        // All blocks of the innermost loop have been passed: does its head change?
        if let Some(last) = open.last_mut()
            && last.inside.blocks.end == block
        {
            let head = last.inside.blocks.start;
            let back = run.gather(head, |from| last.inside.blocks.contains(&from), |_| true);
            last.rounds += 1;
            if run.grow(last, back, context, &mut widenings) {
                run.send(head, last.state.clone());
                block = head + 1;
            } else {
                invariants[last.number] = last.state.take();
                open.pop();
            }
            continue;
        }
        if block == flow.out.len() {
            break;
        }
        // A way can be used up if it is taken again before it is looked at again: if it comes from
        // inside the innermost loop.
        let innermost = open.last().map(|o| o.inside.blocks.clone());
        let again = |from: usize| innermost.as_ref().is_none_or(|b| b.contains(&from));
        let mut state = match flow.loop_at(block) {
            Some(number) => {
                let inside = &flow.loops[number];
                let state = run.gather(block, |from| !inside.blocks.contains(&from), again);
                open.push(Open { number, inside, state: None, rounds: 0 });
                state
            }
            None => run.gather(block, |_| true, again),
        };
        if block == 0 {
            let mut start = D::top(context);
            Clock::time(&mut run.clock.image, || {
                flow.ranges.iter().zip(0..).for_each(|(range, d)| start.assign_interval(Dim::int(d), range));
            });
            // Nothing leads to an entry from outside.
            state = Some(start);
        }
        if flow.loop_at(block).is_some()
            && let Some(last) = open.last_mut()
        {
            last.state.clone_from(&state);
        }
        run.send(block, state);
        block += 1;
    }
    Found { invariants, clock: run.clock, widenings, proved: run.proved }
}

impl Flow {
    /// The loop that a block heads.
    pub fn loop_at(&self, block: usize) -> Option<usize> {
        self.loops.binary_search_by_key(&block, |l| l.blocks.start).ok()
    }
}

impl<D: NumericDomain> Run<'_, D> {
    /// The join of what arrives at a block over the ways from blocks that count. The states of ways that
    /// are not needed again are used up.
    fn gather(
        &mut self,
        block: usize,
        counts: impl Fn(usize) -> bool,
        used_up: impl Fn(usize) -> bool,
    ) -> Option<D> {
        let mut sum: Option<D> = None;
        for &way in &self.flow.inc[block] {
            let from = self.flow.ways[way].from;
            if !counts(from) {
                continue;
            }
            let slot = &mut self.at_end[way];
            let state = if used_up(from) { slot.take() } else { slot.clone() };
            match (&mut sum, state) {
                (_, None) => {}
                (None, state) => sum = state,
                (Some(sum), Some(state)) => {
                    Clock::time(&mut self.clock.basic, || sum.join_with(&state));
                }
            }
        }
        sum
    }

    /// Carries a state over all ways that leave a block.
    fn send(&mut self, block: usize, state: Option<D>) {
        let mut state = state;
        let out = &self.flow.out[block];
        for (i, &way) in out.iter().enumerate() {
            let own = if i + 1 == out.len() { state.take() } else { state.clone() };
            self.at_end[way] = own.and_then(|own| self.follow(own, &self.flow.ways[way].actions));
        }
    }

    fn follow(&mut self, mut state: D, actions: &[Action]) -> Option<D> {
        let Run { clock: Clock { basic, image, .. }, proved, .. } = self;
        for action in actions {
            match action {
                Action::Assign(d, tree) => Clock::time(image, || state.assign_tree(*d, tree)),
                Action::Any(d, range) => Clock::time(image, || state.assign_interval(*d, range)),
                Action::Assume(tree) | Action::Check(_, tree) => {
                    if let Action::Check(number, _) = action {
                        // Not part of the analysis, so it does not count.
                        let mut fails = state.clone();
                        fails.assume_tree(tree, false);
                        proved[*number] = fails.is_bottom();
                    }
                    Clock::time(image, || state.assume_tree(tree, true));
                    if Clock::time(basic, || state.is_bottom()) {
                        return None;
                    }
                }
            }
        }
        Some(state)
    }

    /// Takes what came back to a loop head into account; `false` if it is stable.
    fn grow(
        &mut self,
        last: &mut Open<'_, D>,
        back: Option<D>,
        context: &D::Ctx,
        widenings: &mut u64,
    ) -> bool {
        let Some(back) = back else { return false };
        let Some(state) = &mut last.state else {
            // A loop that is entered elsewhere than at its head.
            last.state = Some(back);
            return true;
        };
        if Clock::time(&mut self.clock.basic, || back.leq(state)) {
            return false;
        }
        if last.rounds < DELAY {
            Clock::time(&mut self.clock.basic, || state.join_with(&back));
            return true;
        }
        *widenings += 1;
        let flow = self.flow;
        Clock::time(&mut self.clock.widen, || {
            state.widen_with(&back);
            // Variables stay in their types, whatever widening makes of them.
            let mut types = D::top(context);
            for d in &last.inside.changed {
                types.assign_interval(*d, &flow.ranges[d.index() as usize]);
            }
            state.meet_with(&types);
        });
        true
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use palisade_base::SourceMap;
    use palisade_cfa::DataModel;
    use palisade_domains::{Boxes, Intervals, LddBox, LddCtx, LddLimits};
    use palisade_lower::{CheckSet, Options, compile};

    /// The flow of the function `f`, without callees.
    pub fn flow(text: &str) -> Flow {
        let mut map = SourceMap::new();
        let file = map.add("test.i", text.into()).expect("a small file fits");
        let checks = CheckSet::NONE.with(palisade_cfa::CheckKind::Bounds);
        let options = Options { checks, entry: String::new(), ..Options::default() };
        let compiled = compile(&mut map, &[file], DataModel::Lp64, &options);
        let program = compiled.program.expect("the program is fine");
        let graph = program.analyse();
        Flow::new(&program, &graph, program.func_named("f").expect("it is there"))
    }

    fn invariants<D: NumericDomain>(text: &str, context: &D::Ctx) -> Vec<String> {
        let flow = flow(text);
        let found = analyse::<D>(&flow, context);
        assert!(crate::boxes::runs::check(&flow, &found.invariants).is_ok(), "{text}");
        found.invariants.iter().map(|i| i.as_ref().map_or("unreached".into(), |d| format!("{d:?}"))).collect()
    }

    fn boxes(text: &str) -> Vec<String> {
        invariants::<Boxes>(text, &LddCtx::new(LddLimits::default()))
    }

    /// Both domains of single boxes, which must agree.
    fn single(text: &str) -> Vec<String> {
        let found = invariants::<LddBox>(text, &LddCtx::new(LddLimits::default()));
        assert_eq!(found, invariants::<Intervals>(text, &()), "{text}");
        found
    }

    /// The part of an invariant about variable 0.
    fn first(found: &[String]) -> Vec<String> {
        let about =
            |i: &String| i.split(" && ").filter(|c| c.starts_with("x0 ")).collect::<Vec<_>>().join(" && ");
        found.iter().map(about).collect()
    }

    #[test]
    fn loops_are_widened_to_their_types() {
        let text = "void f(void) { for (unsigned char i = 3; i != 9; i++) {} }";
        // Past 9 the widened values go on to the end of the type and start again.
        assert_eq!(first(&single(text)), ["x0 >= 0 && x0 <= 255"]);
        let text = "void f(void) { for (int i = 0; i < 10; i++) {} }";
        assert_eq!(first(&single(text)), ["x0 >= 0 && x0 <= 2147483647"]);
    }

    #[test]
    fn signed_arithmetic_wraps() {
        let text = "int g(int); void f(void) { int i = 2147483647; while (g(0)) i += 1; g(i); }";
        assert_eq!(first(&single(text)), ["x0 >= -2147483648 && x0 <= 2147483647"]);
        let text = "int g(int); void f(void) { int i = 2147483647; i += 1; while (g(i)) {} }";
        assert_eq!(first(&single(text)), ["x0 = -2147483648"]);
    }

    #[test]
    fn boxes_keep_cases_apart() {
        let text = "int g(int); void f(int c) { int a, b; if (c) { a = 1; b = 2; } else { a = 5; b = 7; }
                    while (g(a)) g(b); }";
        assert_eq!(boxes(text).len(), 1);
        assert!(boxes(text)[0].contains("||"), "{:?}", boxes(text));
        assert!(!single(text)[0].contains("||"));
    }

    #[test]
    fn members_temporaries_and_globals_are_tracked() {
        let members =
            "int g(void); void f(void) { struct { int a, b; } s; s.a = 1; s.b = 2; while (g()) s.b = 3; }";
        assert!(single(members)[0].starts_with("x0 = 1 && x1 >= 2 && x1 <= 3"), "{:?}", single(members));
        // The values of two operators and of a load.
        let operators = "void f(int *p, int i) { int a = *p * 2 + i; for (;;) {} }";
        assert_eq!(flow(operators).ranges.len(), 4);
        // A call may change the global, a local nobody else.
        let global =
            "int g(void); static int h; void f(void) { int a = 1; h = 4; while (h == 4) { a = h; g(); } }";
        assert!(single(global)[0].contains("x0 >= 1 && x0 <= 4"), "{:?}", single(global));
    }

    #[test]
    fn checks_are_proved_with_the_invariants() {
        let text = "int g(int); void f(int c) { int a[8], i = c ? 2 : 9; if (i < 5) g(a[i]); g(a[i]); }";
        let flow = flow(text);
        let found = analyse::<Intervals>(&flow, &());
        // Each access is checked at both ends.
        assert_eq!(found.proved, [true, true, true, false], "{flow:?}");
    }

    #[test]
    fn nested_and_crossed_loops_end() {
        let nested = "void f(int n) { for (int i = 0; i < n; i++) for (int j = i; j < 5; j++) {} }";
        assert_eq!(single(nested).len(), 2);
        // Both labels are entered from outside: no loop head is passed by all ways in.
        let crossed = "int g(int); void f(int n) { int i = 0; if (n) goto b; a: i = i + 1; b: i = i + 2;
                       if (g(i)) goto a; }";
        let found = single(crossed);
        assert_eq!(found.len(), 1);
        assert!(!found[0].contains("unreached"), "{found:?}");
        assert_eq!(single("void f(void) { return; for (;;) {} }").len(), 0);
    }

    #[test]
    fn unreachable_loops_have_no_states() {
        let text = "int g(int); void f(void) { int i = 3; if (i > 5) while (g(i)) i++; }";
        assert_eq!(single(text), ["unreached"]);
    }
}
