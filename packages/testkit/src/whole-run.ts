/**
 * True with `CALLGATE_TESTS=all`, as .ci/full sets it: every language behind every launcher and in every engine.
 * Otherwise a test of such a matrix tries the part that its own launcher or engine could break.
 */
export const isWholeRun: boolean = process.env["CALLGATE_TESTS"] === "all";
