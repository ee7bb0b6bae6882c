// An array that others define, of a length that only they know: nothing is known about an access.
// palisade check --property valid-deref tests/c/check/extern_array.c
// verdict: unknown
extern char version[];

int main(void)
{
    return version[0];
}
