// Figure 1(a) of "Combining Model Checking and Data-Flow Analysis": a division that is never by zero.
// palisade check --property def-behavior --analysis location+explicit --merge sep examples/cpa/figure1.c
// verdict: true
int main(int argc, char **argv) {
    int y = argc;
    int x = 0, z = 0;
    if (y == 1)
        x = 1;
    else
        z = 1;
    return 10 / (x - z);
}
