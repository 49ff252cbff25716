import { Parser } from "@lezer/common";
import type { PartialParse } from "@lezer/common";
import { parser as javaScriptParser } from "@lezer/javascript";
import { expect, test } from "vitest";
import { parseInSlices } from "./parse-in-slices.ts";

/** The parser of JavaScript, each of its steps slow in one way. */
function slowParser(stepOf: () => void): Parser {
  return new (class extends Parser {
    override createParse(...args: Parameters<Parser["createParse"]>): PartialParse {
      const parse = javaScriptParser.createParse(...args);
      return {
        get parsedPos() {
          return parse.parsedPos;
        },
        get stoppedAt() {
          return parse.stoppedAt;
        },
        stopAt: (at) => parse.stopAt(at),
        advance() {
          stepOf();
          return parse.advance();
        },
      };
    }
  })();
}

const text = "const a = 1;\n".repeat(40);

test("a machine that is busy with others does not make a parse incomplete", async () => {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  let left = 20;
  const tree = await parseInSlices(slowParser(() => left-- > 0 && void Atomics.wait(sleeper, 0, 0, 10)), text, 100);
  expect(tree?.length).toBe(text.length);
});

test("a parse that computes for longer than its budget has no tree", async () => {
  const tree = await parseInSlices(slowParser(() => { for (const untilMs = performance.now() + 5; performance.now() < untilMs; ); }), text, 20);
  expect(tree).toBeUndefined();
});
