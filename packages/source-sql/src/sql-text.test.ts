import { describe, expect, test } from "vitest";
import { countQuestionMarks, isEmptyRest, leadingWord, readNames, refusedWord } from "./sql-text.ts";

describe("names of values", () => {
  test("become placeholders, one for each name in PostgreSQL and one for each use elsewhere", () => {
    expect(readNames("postgres", "a = :a and b = :b or a > :a")).toEqual({ text: "a = $1 and b = $2 or a > $1", names: ["a", "b"] });
    expect(readNames("mysql", "a = :a and b = :b or a > :a")).toEqual({ text: "a = ? and b = ? or a > ?", names: ["a", "b", "a"] });
  });

  test("are not looked for in quotes, comments and casts", () => {
    const sql = `select ':a', ":b", ''':c', 1::int -- :d\n /* :e */ , :f`;
    expect(readNames("postgres", sql)).toEqual({ text: sql.replace(":f", "$1"), names: ["f"] });
    expect(readNames("postgres", "select $x$ :a $$ :b $x$, :c").names).toEqual(["c"]);
    expect(readNames("mysql", "select 'it\\'s :a', `:b` # :c\n, :d").names).toEqual(["d"]);
    expect(readNames("sqlite", "select [:a], `:b`, :c").names).toEqual(["c"]);
  });
});

test("the first word is found behind comments and brackets, but not inside of what MySQL runs", () => {
  expect(["  -- x\n/* y */ ((select 1))", "# x\ndelete", ";;commit", "", "1"].map(leadingWord)).toEqual(["SELECT", "DELETE", "COMMIT", "", ""]);
  expect(leadingWord("/*!50000 commit */")).toBe("");
});

test("statements about transactions, settings and files are refused by their first word", () => {
  expect(["COMMIT", "/**/set x = 1", "copy t to stdout", "insert into t values (1)", "setting"].map(refusedWord)).toEqual(["COMMIT", "SET", "COPY", undefined, undefined]);
});

test("behind a statement may be space, comments and semicolons", () => {
  expect(["", " ;; -- x", "/* y */ ;", "/* open", "select 1", "; delete"].map(isEmptyRest)).toEqual([true, true, true, true, false, false]);
});

test("placeholders of SQLite are counted, those in quotes and comments are none", () => {
  expect(["select ?, '?', \"?\", ? -- ?\n /* ? */", "select 1", "select ?1, ?2", "select :a", "select @a"].map(countQuestionMarks)).toEqual([2, 0, undefined, undefined, undefined]);
});
