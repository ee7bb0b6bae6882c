// Searches in tables and trees, and linked lists.

//@ lfind
void *$lfind(const void *key, const void *base, unsigned long *n, unsigned long size,
             int (*compare)(const void *, const void *))
{
    unsigned long i;
    for (i = 0; i < *n; i++)
        if (compare(key, (const char *)base + i * size) == 0)
            return (char *)base + i * size;
    return 0;
}

//@ lsearch
void *$lfind(const void *key, const void *base, unsigned long *n, unsigned long size,
             int (*compare)(const void *, const void *));
void *$lsearch(const void *key, void *base, unsigned long *n, unsigned long size,
               int (*compare)(const void *, const void *))
{
    char *found = $lfind(key, base, n, size, compare);
    if (found)
        return found;
    found = (char *)base + *n * size;
    __builtin_memcpy(found, key, size);
    *n = *n + 1;
    return found;
}

//@ tsearch
struct $node { const void *key; struct $node *left, *right; };
void *$tsearch(const void *key, void **root, int (*compare)(const void *, const void *))
{
    struct $node **at = (struct $node **)root;
    struct $node *node;
    if (at == 0)
        return 0;
    while (*at != 0) {
        int c = compare(key, (*at)->key);
        if (c == 0)
            return *at;
        at = c < 0 ? &(*at)->left : &(*at)->right;
    }
    node = $malloc(sizeof *node);
    node->key = key;
    node->left = 0;
    node->right = 0;
    *at = node;
    return node;
}

//@ tfind
struct $node { const void *key; struct $node *left, *right; };
void *$tfind(const void *key, void *const *root, int (*compare)(const void *, const void *))
{
    struct $node *at;
    if (root == 0)
        return 0;
    at = *(struct $node **)root;
    while (at != 0) {
        int c = compare(key, at->key);
        if (c == 0)
            return at;
        at = c < 0 ? at->left : at->right;
    }
    return 0;
}

//@ insque remque
struct $link { struct $link *next, *prev; };
void $insque(void *item, void *after)
{
    struct $link *e = item;
    struct $link *p = after;
    if (p == 0) {
        e->next = 0;
        e->prev = 0;
        return;
    }
    e->next = p->next;
    e->prev = p;
    if (p->next)
        p->next->prev = e;
    p->next = e;
}
void $remque(void *item)
{
    struct $link *e = item;
    if (e->next)
        e->next->prev = e->prev;
    if (e->prev)
        e->prev->next = e->next;
}
