#!/bin/sh
# Checks every task of a list, validates the witness of every verdict, and prints the counts.
#
#   scripts/witnesses.sh PALISADE LIST [SECONDS]
#
# Each line of LIST is a task: PROGRAM PROPERTY [DATA_MODEL], where PROPERTY is a name or a .prp
# file. LIST may also be a folder: then its .c and .i files are checked for failing assertions.
# Exit status 1 if a witness was not accepted or evidence failed its check.
set -u
palisade=$1
list=$2
seconds=${3:-20}
work=$(mktemp -d) || exit 2
summary() {
    echo "tasks $tasks: true $true, false $false, unknown $unknown, no verdict $other"
    echo "witnesses accepted $accepted, not accepted $refused; evidence checks failed $failed"
    rm -rf "$work"
}
tasks=0 true=0 false=0 unknown=0 other=0 accepted=0 refused=0 failed=0
# An interrupted run tells how far it came.
trap summary EXIT
trap 'exit 1' INT TERM
if [ -d "$list" ]; then
    find "$list" -name '*.[ci]' | sort | sed 's/$/ unreach-call/' > "$work/list"
else
    cp "$list" "$work/list"
fi
while read -r program property model; do
    [ -n "$program" ] || continue
    tasks=$((tasks + 1))
    rm -f "$work/witness.yml"
    "$palisade" check "$program" --property "$property" --data-model "${model:-lp64}" \
        --time-limit "${seconds}s" --witness "$work/witness.yml" > "$work/out" 2> "$work/err"
    verdict=$(tail -n 1 "$work/out")
    failed=$((failed + $(grep -c 'evidence did not pass its check' "$work/err")))
    case $verdict in
        "verdict: true") true=$((true + 1)) ;;
        "verdict: false"*) false=$((false + 1)) ;;
        "verdict: unknown"*) unknown=$((unknown + 1)); continue ;;
        *) other=$((other + 1)); echo "no verdict: $program ($property)"; continue ;;
    esac
    answer=$("$palisade" validate "$program" "$work/witness.yml" --property "$property" \
        --data-model "${model:-lp64}" --time-limit 90s 2>&1 | tail -n 1)
    if [ "$answer" = "$verdict" ]; then
        accepted=$((accepted + 1))
    else
        refused=$((refused + 1))
        echo "not accepted: $program ($property): $verdict, but validate says: $answer"
    fi
done < "$work/list"
[ "$refused" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$other" -eq 0 ]
