// Calls through a table of functions are valid as long as the table has an entry.
// palisade check --property valid-memsafety tests/c/check/call_table.c
// verdict: true
extern unsigned __VERIFIER_nondet_uint(void);

static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
static int (*table[2])(int) = {one, two};

int main(void) {
    unsigned i = __VERIFIER_nondet_uint();
    return table[i % 2](3) + (i > 5 ? one : two)(4);
}
