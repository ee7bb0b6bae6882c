//! The five families of programs of section 7, parametric in N.

/// A family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// A string is copied; its end is reached.
    StringCopy,
    /// The first N codes of an (n, k)-Gray code: neighbours differ by 1 in one digit.
    GrayCode,
    /// The partitioning of quick sort: no element outside the array is looked at.
    Partition,
    /// The array is sorted afterwards.
    BubbleSort,
    /// The array is sorted afterwards.
    SelectionSort,
}

/// Digits of a Gray code, with one more for the end.
const DIGITS: usize = 7;

impl Family {
    /// In the order of Table 4.
    pub const ALL: [Family; 5] =
        [Family::StringCopy, Family::GrayCode, Family::Partition, Family::BubbleSort, Family::SelectionSort];

    /// The name in Table 4.
    pub fn name(self) -> &'static str {
        match self {
            Family::StringCopy => "String copy",
            Family::GrayCode => "Gray code",
            Family::Partition => "Partition",
            Family::BubbleSort => "Bubble sort",
            Family::SelectionSort => "Selection sort",
        }
    }

    /// The paper's figures, within 30 minutes: the greatest instances of EUREKA and of CBMC, and seconds.
    pub fn paper(self) -> [&'static str; 2] {
        match self {
            Family::StringCopy => ["1000* (153.78)", "221 (32.5)"],
            Family::GrayCode => ["25 (230.26)", "48 (83.65)"],
            Family::Partition => ["40 (178.02)", "7 (157.14)"],
            Family::BubbleSort => ["8 (91.92)", "12 (1213.18)"],
            Family::SelectionSort => ["6 (104.42)", "6 (432.60)"],
        }
    }

    /// Elements of all arrays.
    pub fn elements(self, n: usize) -> usize {
        match self {
            Family::StringCopy => 2 * n,
            Family::GrayCode => 4 * DIGITS,
            Family::Partition | Family::BubbleSort | Family::SelectionSort => n,
        }
    }

    /// Passes through a loop, at most.
    pub fn passes(self, n: usize) -> usize {
        n.max(DIGITS) + 1
    }

    /// The program for N, at least 2.
    pub fn program(self, n: usize) -> String {
        let last = n - 1;
        let body = match self {
            Family::StringCopy => format!(
                "char source[{n}], target[{n}];

int main(void) {{
    int i;
    for (i = 0; i < {n}; i++)
        source[i] = __VERIFIER_nondet_char();
    source[{last}] = 0;
    i = 0;
    while (source[i] != 0) {{
        target[i] = source[i];
        i++;
    }}
    target[i] = 0;
    assert(i < {n});
    return 0;
}}
"
            ),
            // After D.-C. Guan, "Generalized Gray codes with applications" (1998).
            Family::GrayCode => format!(
                "int digit[{DIGITS}], direction[{DIGITS}], most[{DIGITS}], before[{DIGITS}];

int main(void) {{
    int i, step, next, changed;
    for (i = 0; i < {DIGITS}; i++) {{
        digit[i] = 0;
        before[i] = 0;
        direction[i] = 1;
        most[i] = 9;
    }}
    for (step = 0; step < {n} && digit[{}] == 0; step++) {{
        i = 0;
        next = digit[0] + direction[0];
        while (next > most[i] || next < 0) {{
            direction[i] = -direction[i];
            i++;
            next = digit[i] + direction[i];
        }}
        digit[i] = next;
        changed = 0;
        for (i = 0; i < {DIGITS}; i++) {{
            if (digit[i] != before[i]) {{
                changed++;
                assert(digit[i] - before[i] == 1 || digit[i] - before[i] == -1);
            }}
            before[i] = digit[i];
        }}
        assert(changed == 1);
    }}
    return 0;
}}
",
                DIGITS - 1
            ),
            Family::Partition => format!(
                "int a[{n}];

int main(void) {{
    int i, j, t, pivot;
    for (i = 0; i < {n}; i++)
        a[i] = __VERIFIER_nondet_int();
    pivot = a[0];
    i = 1;
    j = {last};
    while (i <= j) {{
        while (i <= j && a[i] <= pivot)
            i++;
        while (a[j] > pivot) {{
            j--;
            assert(j >= 0);
        }}
        if (i < j) {{
            t = a[i];
            a[i] = a[j];
            a[j] = t;
            i++;
            j--;
        }}
    }}
    assert(0 <= j && j < {n});
    return 0;
}}
"
            ),
            Family::BubbleSort => format!(
                "int a[{n}];

int main(void) {{
    int i, j, t;
    for (i = 0; i < {n}; i++)
        a[i] = __VERIFIER_nondet_int();
    for (i = 0; i < {last}; i++)
        for (j = 0; j < {last} - i; j++)
            if (a[j] > a[j + 1]) {{
                t = a[j];
                a[j] = a[j + 1];
                a[j + 1] = t;
            }}
    for (i = 0; i < {last}; i++)
        assert(a[i] <= a[i + 1]);
    return 0;
}}
"
            ),
            Family::SelectionSort => format!(
                "int a[{n}];

int main(void) {{
    int i, j, least, t;
    for (i = 0; i < {n}; i++)
        a[i] = __VERIFIER_nondet_int();
    for (i = 0; i < {last}; i++) {{
        least = i;
        for (j = i + 1; j < {n}; j++)
            if (a[j] < a[least])
                least = j;
        t = a[i];
        a[i] = a[least];
        a[least] = t;
    }}
    for (i = 0; i < {last}; i++)
        assert(a[i] <= a[i + 1]);
    return 0;
}}
"
            ),
        };
        format!(
            "#include <assert.h>\nextern int __VERIFIER_nondet_int(void);\nextern char __VERIFIER_nondet_char(void);\n{body}"
        )
    }
}
