// Equal seeds give equal numbers.
// palisade check --property unreach-call tests/c/check/library_equal_seeds.c
// verdict: unknown
extern void reach_error(void);
void srand(unsigned);
int rand(void);
int main(void)
{
    int a, b;
    srand(1);
    a = rand();
    srand(1);
    b = rand();
    if (a != b)
        reach_error();
    return 0;
}
