// A list, a tree and a growing array on the heap.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { int key; struct node *left, *right; };
struct list { struct list *next; const char *word; };

static struct node *insert(struct node *t, int key)
{
    if (!t) {
        t = malloc(sizeof *t);
        t->key = key;
        t->left = t->right = NULL;
    } else if (key < t->key)
        t->left = insert(t->left, key);
    else
        t->right = insert(t->right, key);
    return t;
}

static int walk(struct node *t, int depth)
{
    if (!t)
        return depth;
    int l = walk(t->left, depth + 1);
    printf("%d ", t->key);
    int r = walk(t->right, depth + 1);
    return l > r ? l : r;
}

static void drop(struct node *t)
{
    if (t) {
        drop(t->left);
        drop(t->right);
        free(t);
    }
}

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    struct node *t = NULL;
    unsigned seed = 12345;
    for (int i = 0; i < 50; i++) {
        seed = seed * 1103515245u + 12345u;
        t = insert(t, seed >> 16 & 255);
    }
    printf("depth %d\n", walk(t, 0));
    drop(t);

    struct list *head = NULL;
    const char *words[] = { "alpha", "beta", "gamma", NULL };
    for (const char **w = words; *w; w++) {
        struct list *l = calloc(1, sizeof *l);
        l->word = *w;
        l->next = head;
        head = l;
    }
    while (head) {
        struct list *next = head->next;
        printf("%s%s", head->word, next ? "," : "\n");
        free(head);
        head = next;
    }

    size_t n = 0, cap = 0;
    int *a = NULL;
    for (int i = 0; i < 100; i++) {
        if (n == cap) {
            cap = cap ? cap * 2 : 1;
            a = realloc(a, cap * sizeof *a);
        }
        a[n++] = (i * 37) % 101;
    }
    qsort(a, n, sizeof *a, compare);
    int key = 50, *hit = bsearch(&key, a, n, sizeof *a, compare);
    printf("%d %d %d %zu %td\n", a[0], a[50], a[99], cap, hit - a);
    free(a);
    int (*grid)[4] = calloc(3, sizeof *grid);
    grid[2][3] = 7;
    printf("%d %d\n", grid[2][3], grid[1][1]);
    free(grid);
    return 0;
}
