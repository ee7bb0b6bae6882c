//! Section 2 and Example 1 of the paper, step by step.

use palisade_base::Budget;
use palisade_eureka::*;
use std::collections::BTreeSet;

const I: Var = Var(0);
const A: Array = Array(0);

/// The program P of Table 1.
fn program() -> Program {
    let i = || Expr::Var(I);
    let nine = |e| Cond::new(Rel::Ne, e, Expr::Int(9));
    Program {
        vars: vec!["i".into()],
        arrays: vec![("a".into(), 30)],
        stmts: vec![
            Stmt::Store(A, Expr::Int(1), Expr::Int(9), Some(2)),
            Stmt::Assign(vec![(I, Expr::Int(0))], Some(3)),
            Stmt::Branch(nine(Expr::element(A, i())), Some(4), Some(6)),
            Stmt::Store(A, i(), i().times(2), Some(5)),
            Stmt::Assign(vec![(I, i().plus(Expr::Int(1)))], Some(3)),
            Stmt::Branch(Cond::new(Rel::Le, i(), Expr::Int(1)), None, Some(0)),
        ],
    }
}

fn text(program: &Program) -> Vec<String> {
    (1..=program.stmts.len()).map(|v| program.show_stmt(v)).collect()
}

/// As in the paper, `i` is not abstracted away.
fn start(program: &Program) -> Kept {
    Kept { vars: [I].into(), ..Kept::none(program) }
}

const TRACE: [Vertex; 11] = [1, 2, 3, 4, 5, 3, 4, 5, 3, 6, 0];

#[test]
fn table_1_initial_abstraction() {
    let p = program();
    let abstraction = Abstraction::new(&p, &start(&p));
    let expected = [";", "i = 0;", "if(u!=9)", ";", "i = i+1;", "if(i<=1)"];
    assert_eq!(text(&abstraction.program), expected);
}

#[test]
fn the_trace_of_the_initial_abstraction() {
    let p = program();
    let abstraction = Abstraction::new(&p, &start(&p));
    match model_check(&abstraction.program, Mode::Exact, &Budget::unlimited()).unwrap() {
        Checked::Trace(trace) => assert_eq!(trace, TRACE),
        other => panic!("{other:?}"),
    }
}

#[test]
fn table_2_core() {
    // Steps are counted from 1 in Table 2.
    let core = match decide(&program(), &TRACE, &Budget::unlimited()).unwrap() {
        Decision::Core(core) => core.iter().map(|s| s + 1).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(core, [1, 2, 4, 5, 6]);
}

#[test]
fn example_1_refinement_and_safety() {
    let p = program();
    let kept = start(&p);
    let budget = Budget::unlimited();
    let refined = refine(&p, &TRACE, &[0, 1, 3, 4, 5], &kept, &budget).unwrap().expect("decided");
    assert_eq!(refined.vars, BTreeSet::from([I]));
    assert_eq!(refined.elements, [BTreeSet::from([1])]);
    let abstraction = Abstraction::new(&p, &refined);
    let expected = [
        "a^1 = ((1==1)?9:a^1);",
        "i = 0;",
        "if(((i==1)?a^1:u)!=9)",
        "a^1 = ((i==1)?2*i:a^1);",
        "i = i+1;",
        "if(i<=1)",
    ];
    assert_eq!(text(&abstraction.program), expected);
    let checked = model_check(&abstraction.program, Mode::Exact, &budget).unwrap();
    assert!(matches!(checked, Checked::Safe(_)), "{checked:?}");
}

#[test]
fn the_whole_procedure_from_nothing() {
    let p = program();
    match check(&p, Kept::none(&p), &Budget::unlimited(), &mut |_| {}).unwrap() {
        Answer::Safe(abstraction, _) => assert_eq!(abstraction.program.vars, ["i".into(), "a^1".into()]),
        other => panic!("{other:?}"),
    }
}
