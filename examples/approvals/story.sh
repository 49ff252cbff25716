#!/bin/sh
# One afternoon of questions and answers, offline, with a journal of its own that is removed at the end.
set -eu
cd "$(dirname "$0")"
XDG_STATE_HOME="${STORY_STATE:-$(mktemp -d)}"
export XDG_STATE_HOME
[ -n "${STORY_STATE:-}" ] || trap 'rm -rf "$XDG_STATE_HOME"' EXIT

passphrase="only for this story"
say() { printf '\n== %s\n' "$*"; }
# What a person does who has the key; a password manager would write the passphrase here.
approver() { printf '%s\n' "$passphrase" | callgate --trust "$@"; }
# What the assistant does. A run that waits ends the command with a code of its own.
assistant() { callgate --trust --json exec -e "$1" | field 'runId' || true; }
goes_on() { callgate --trust --json runs resume "$1" | field 'error?.code ?? one.status' || true; }
field() { node -p "const one = [JSON.parse(require('fs').readFileSync(0, 'utf8'))].flat()[0]; one.$1"; }
question() { callgate --trust --json approvals ls | field 'question.approvalId'; }

say "Bea gets a key. From now on an answer counts only with it"
approver approver init --name bea

say "The assistant pays: the call waits, and nothing has happened"
run=$(assistant 'return await tools.bank.pay({ to: "bob", amount: 40 })')
callgate --trust approvals ls

say "Without the key nobody answers"
printf 'a guess at it\n' | callgate --trust approvals approve "$(question)" && exit 1

say "Bea approves it, and two more with the same arguments"
approver approvals approve "$(question)" --grant 2
goes_on "$run"

say "The next one needs no question"
run=$(assistant 'return await tools.bank.pay({ to: "bob", amount: 40 })')
callgate --trust runs show "$run"

say "Bea takes the grant back, though one use is left"
approver grants revoke "$(callgate --trust --json grants ls | field 'grantId')"
callgate --trust grants ls

say "So it asks again, and this time she says no"
run=$(assistant 'return await tools.bank.pay({ to: "bob", amount: 40 })')
approver approvals deny "$(question)" --reason "Bob has had enough"
goes_on "$run"

say "A long statement: it was read, and waits for her before the model sees it. She withholds it"
run=$(assistant 'return await tools.bank.statement({ months: 12 })')
approver approvals deny "$(question)" --reason "More than the task needs"
goes_on "$run"

say "What is on record"
callgate --trust audit verify
callgate --trust audit ls
