#!/bin/sh
# A program is rehearsed, its plan is changed and approved, and applied: offline, with a journal of its own that is removed at the end.
set -eu
cd "$(dirname "$0")"
XDG_STATE_HOME="${STORY_STATE:-$(mktemp -d)}"
export XDG_STATE_HOME
[ -n "${STORY_STATE:-}" ] || trap 'rm -rf "$XDG_STATE_HOME"' EXIT

plan="$XDG_STATE_HOME/plan.json"
before="$XDG_STATE_HOME/before.json"
say() { printf '\n== %s\n' "$*"; }
# What a person does who has the key; a password manager would write the passphrase here.
approver() { printf 'only for this story\n' | callgate --trust "$@"; }
# Every end is told, also that of a command that ends with a code of its own.
field() { node -p "const one = [JSON.parse(require('fs').readFileSync(0, 'utf8'))].flat()[0]; one.$1"; }
expect() { [ "$2" = "$3" ] || { echo "$1: expected $3, was $2" >&2; exit 1; }; }

say "Bea gets a key: a plan counts only with it"
approver approver init --name bea

say "The program is rehearsed. Nothing has happened"
callgate --trust run programs/close-orders.ts --rehearse --plan "$plan"
expect "orders that were written" "$(ls "$XDG_STATE_HOME" | grep -c orders.json || true)" 0

say "Bea reads the plan"
callgate --trust plan show "$plan" || true

say "She changes the reason of one, and leaves the other out"
cp "$plan" "$before"
callgate --trust plan edit "$plan" 1 '{ "id": "o-17", "reason": "We are sorry" }'
callgate --trust plan drop "$plan" 3
callgate --trust plan diff "$before" "$plan" || true

say "Without her word nothing is applied"
code=0
callgate --trust run --apply "$plan" || code=$?
expect "exit code" "$code" 3
approver plan approve "$plan"

say "Applied: what she approved happens without a question; the letter, which nobody could know, waits for her"
run=$(callgate --trust --json run --apply "$plan" | field runId || true)
approver approvals approve "$(callgate --trust --json approvals ls | field 'question.approvalId')"
callgate --trust --json runs resume "$run" >"$XDG_STATE_HOME/end.json" || true
field 'planProgress.items.map(({ id, became }) => `${id} ${became}`).join(", ")' <"$XDG_STATE_HOME/end.json"
cat "$XDG_STATE_HOME/letters.txt" "$XDG_STATE_HOME/orders.json"

say "Rehearsed again, one order is left; before it is applied the world changes"
callgate --trust --json run programs/close-orders.ts --rehearse --plan "$plan" | field 'plan.items.length'
approver plan approve "$plan"
sed 's/o-18/o-99/' "$XDG_STATE_HOME/orders.json" >"$XDG_STATE_HOME/new" && mv "$XDG_STATE_HOME/new" "$XDG_STATE_HOME/orders.json"
callgate --trust --json run --apply "$plan" >"$XDG_STATE_HOME/end.json" || true
field 'status + " " + one.error.message' <"$XDG_STATE_HOME/end.json"
