#pragma palisade c23
int printf(const char *, ...);
enum small : unsigned char { A, B = 200 }; enum fwd : long; enum fwd : long { F = 5 }; static constexpr int N = 4; constexpr double half = 0.5; static int table[N] = { [N - 1] = 1'000'000 };
static_assert(sizeof(enum small) == 1); static_assert(N == 4, "n"); 
[[nodiscard]] static int f([[maybe_unused]] int, int b) { return b; } static int none() { return 3; } thread_local int tl = 9;
struct s { int a; bool b; alignas(16) char c; };
static int *counter() { return &(static int){ 40 }; }
int main() {
    bool t = true, u = false; printf("%d %d %zu %zu\n", t, u, sizeof(true), sizeof t); int *p = nullptr; printf("%d %d\n", p == nullptr, !nullptr);
    auto x = 5u; auto d = 2.5f; static auto st = 7L; const auto c = 'a'; printf("%u %zu %zu %zu %d\n", x, sizeof d, sizeof st, sizeof c, c); constexpr int m = N * 2; int arr[m] = {}; printf("%zu %d\n", sizeof arr / sizeof arr[0], arr[3]);
    switch (x) { case m - 3: printf("five\n"); [[fallthrough]]; case N: printf("four\n"); break; default:; }
    printf("%d %d %x\n", 0b1010'1010, 1'000'000, 0xff'ff); typeof(x) y = 3; typeof_unqual(c) z = 'b'; z++; printf("%u %c\n", y, z); printf("%d %d\n", f(1, 2), none()); printf("%zu %zu\n", alignof(struct s), sizeof(struct s)); printf("%d %d\n", tl, table[3]);
    enum small e = B; e += 100; printf("%d %d %ld\n", e, B, (long)F); ++*counter(); printf("%d\n", *counter()); struct s s = {}; printf("%d %d\n", s.a, s.b);
    lab: int after = 4; printf("%d\n", after); if (after > 100) goto lab; printf("%d %zu\n", u8'a', sizeof(u8'a')); static_assert(half == 0.5); int q = { }; printf("%d\n", q); goto end; end: }
