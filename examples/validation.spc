// Figure 4: what was read must be validated before it is consumed.
observer validation {
  initial init;
  state init { on call scanf -> check; }
  state check {
    on call validate -> init;
    on call consume -> error "input is consumed before it is validated";
  }
}
