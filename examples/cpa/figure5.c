// Figure 5 of "Combining Model Checking and Data-Flow Analysis": predicates and constants together.
// palisade check --property def-behavior --analysis location+cartesian+explicit --merge equal examples/cpa/figure5.c
// verdict: true
int main(int argc, char **argv) {
    int x = 1, y = argc, z = 1;
    if (y < 1)
        return 0;
    if (y > 1)
        x = 5;
    else
        z = 5 * x * y;
    return 10 / (x - z);
}
