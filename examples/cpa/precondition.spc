// Figure 6: foo is called with a positive x and a negative y only.
observer precondition {
  initial init;
  state init { on call foo split (x > 0 && y < 0, init, error "precondition of foo"); }
}
