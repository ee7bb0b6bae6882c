#include <stdio.h>
static int interp(const unsigned char *code) {
    static const int table[] = { &&op_push - &&op_push, &&op_add - &&op_push, &&op_mul - &&op_push, &&op_end - &&op_push };
    static const short narrow[] = { (short)(&&op_add - &&op_push) }; int stack[8], sp = 0; (void)narrow;
    goto *(&&op_push + table[*code]);
op_push: stack[sp++] = code[1]; code += 2; goto *(&&op_push + table[*code]);
op_add: sp--; stack[sp - 1] += stack[sp]; code++; goto *(&&op_push + table[*code]);
op_mul: sp--; stack[sp - 1] *= stack[sp]; code++; goto *(&&op_push + table[*code]);
op_end: return stack[0]; }
static int abs_table(int i) { static void *const t[] = { &&a, &&b, &&c }; goto *t[i]; a: return 10; b: return 20; c: return 30; }
struct p { int x, y; }; static struct p sp = (struct p){ 1, 2 }; static int *lit = (int[]){ 7, 8, 9 }; static struct p arr[] = { (struct p){ 3, 4 }, { 5, 6 } }; static struct p *pp = &(struct p){ 11, 12 };
struct z { int n; int tail[0]; }; typedef union { int *i; const void *v; } tu __attribute__((transparent_union)); static int tr(tu u) { return *u.i; }
int main(void) { unsigned char code[] = { 0, 2, 0, 3, 1, 0, 4, 2, 3 }; printf("%d\n", interp(code)); printf("%d %d %d\n", abs_table(0), abs_table(1), abs_table(2));
  printf("%d %d %d %d %d\n", sp.y, lit[2], arr[0].y, arr[1].x, pp->y); printf("%zu\n", sizeof(struct z)); int v = 5; printf("%d\n", tr(&v));
  __auto_type q = 2.5; printf("%g\n", q * 2); printf("%d %d\n", __builtin_types_compatible_p(int, signed), __builtin_choose_expr(1, 3, "x")); { __label__ l; int n = 0; l: if (n++ < 3) goto l; printf("%d\n", n); }
  unsigned __int128 big = (unsigned __int128)0xffffffffffffffffull * 0xffffffffffffffffull; printf("%llx %llx\n", (unsigned long long)(big >> 64), (unsigned long long)big);
  printf("%d %d %d %d %d\n", __builtin_classify_type(1.0), __builtin_classify_type(sp), __builtin_classify_type(main), __builtin_classify_type((char)1), __builtin_classify_type(&v)); return 0; }
