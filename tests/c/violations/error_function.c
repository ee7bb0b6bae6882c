// The error function of the competition.
// palisade check error_function.c
// violation: `reach_error` is called
void reach_error(void) {}
int main(void) {
    int x = 3;
    if (x > 2)
        reach_error();
    return 0;
}
