// An index behind a row to which a pointer leads.
// palisade check tests/c/check/pointer_to_row.c --property def-behavior
// verdict: false(def-behavior)
int main(void) {
    int a[2][3] = {0}, (*row)[3] = a;
    row[1][2] = 1;
    return (*row)[4];
}
