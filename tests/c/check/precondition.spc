// Figure 6: foo needs x > 0 and y < 0. A second observer watches at the same time.
observer precondition {
  initial init;
  state init { on call foo split (x > 0 && y < 0, init, error "foo needs x > 0 and y < 0"); }
}

observer once {
  initial before;
  state before { on return foo -> after; }
  state after { on return foo -> error "foo returns twice"; }
}
