// Functions of a library: nobody calls them here. The contract of one says how it is called.
// palisade check --entry find --property valid-deref examples/library.c
// verdict: true
/*@ requires 0 <= n <= 8;
  @ requires \valid_read(a + (0 .. n - 1));
  @ ensures -1 <= \result < n;
  @*/
int find(const int *a, int n, int key)
{
    int i;
    /*@ loop invariant 0 <= i <= n; */
    for (i = 0; i < n; i++)
        if (a[i] == key)
            return i;
    return -1;
}

/* Without a contract: is `n` the number of elements? */
int last(const int *a, int n)
{
    return a ? a[n - 1] : 0;
}
