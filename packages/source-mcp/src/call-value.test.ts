import { describe, expect, test } from "vitest";
import { readCallError, readCallValue } from "./call-value.ts";

const text = (value: string): unknown => ({ type: "text", text: value });

describe("readCallValue", () => {
  test("code-mode 14: takes structured content and drops the text that repeats it", () => {
    const body = { structuredContent: { a: 1 }, content: [text('{"a":1}')] };
    expect(readCallValue(body, "t")).toEqual({ value: { a: 1 }, artifacts: [] });
  });

  test("parses a single text block that is a JSON object or array, and nothing else", () => {
    expect(readCallValue({ content: [text(' {"a":[1]}')] }, "t").value).toEqual({ a: [1] });
    expect(readCallValue({ content: [text("[1,2]")] }, "t").value).toEqual([1, 2]);
    for (const plain of ["42", "true", '"x"', "{not json", "hello", ""]) {
      expect(readCallValue({ content: [text(plain)] }, "t").value).toBe(plain);
    }
  });

  test("code-mode 13: an id of 19 digits in JSON text stays the same id", () => {
    expect(readCallValue({ content: [text('{"id":1234567890123456789}')] }, "t").value).toEqual({ id: 1234567890123456789n });
  });

  test("gives the blocks where there are several or none", () => {
    expect(readCallValue({ content: [text("a"), text("b")] }, "t").value).toEqual({ content: [text("a"), text("b")] });
    expect(readCallValue({ content: [] }, "t").value).toEqual({ content: [] });
    expect(readCallValue({}, "t").value).toEqual({ content: [] });
  });

  test("code-mode 13: turns pictures, sounds and binary resources into artifacts and names them where they stood", () => {
    const data = Buffer.from("bytes").toString("base64");
    const got = readCallValue(
      {
        content: [
          text("look"),
          { type: "image", data, mimeType: "image/png", annotations: { audience: ["user"] } },
          { type: "audio", data, mimeType: "audio/mpeg" },
          { type: "resource", resource: { uri: "file:///x/../report%20one.pdf?q=1", mimeType: "application/pdf", blob: data } },
        ],
      },
      "make/chart",
    );
    expect(got.artifacts.map((artifact) => [artifact.name, artifact.mimeType, Buffer.from(artifact.bytes).toString()])).toEqual([
      ["make_chart-1.png", "image/png", "bytes"],
      ["make_chart-2.mp3", "audio/mpeg", "bytes"],
      ["report_20one.pdf", "application/pdf", "bytes"],
    ]);
    expect(got.value).toEqual({
      content: [
        text("look"),
        { type: "image", artifact: "make_chart-1.png", mimeType: "image/png", sizeBytes: 5 },
        { type: "audio", artifact: "make_chart-2.mp3", mimeType: "audio/mpeg", sizeBytes: 5 },
        { type: "resource", artifact: "report_20one.pdf", mimeType: "application/pdf", sizeBytes: 5, uri: "file:///x/../report%20one.pdf?q=1" },
      ],
    });
  });

  test("mcp-010: hands resource links on as data and never follows them", () => {
    const link = { type: "resource_link", uri: "http://169.254.169.254/latest", name: "meta" };
    expect(readCallValue({ content: [link] }, "t")).toEqual({ value: { content: [link] }, artifacts: [] });
    const beside = readCallValue({ structuredContent: { ok: true }, content: [link] }, "t");
    expect(beside.value).toEqual({ ok: true });
    expect(beside.artifacts.map((artifact) => [artifact.name, artifact.mimeType])).toEqual([["meta.uri", "text/uri-list"]]);
  });

  test("passes a block of an unknown kind on as it came", () => {
    const odd = { type: "hologram", data: 7 };
    expect(readCallValue({ content: [odd, null, "x"] }, "t").value).toEqual({ content: [odd, null, "x"] });
  });
});

describe("readCallError", () => {
  test("takes code, message and retryable from structured content, else TOOL_FAILED and the text", () => {
    const coded = readCallError({ isError: true, structuredContent: { error: { code: "NOT_FOUND", message: "No such doc", retryable: true } } }, "t");
    expect([coded.code, coded.message, coded.retryable, coded.notApplied]).toEqual(["NOT_FOUND", "No such doc", true, false]);
    const inText = readCallError({ isError: true, content: [text('{"code":"QUOTA","message":"Later"}')] }, "t");
    expect([inText.code, inText.message]).toEqual(["QUOTA", "Later"]);
    const plain = readCallError({ isError: true, content: [text("a"), text("b")] }, "t");
    expect([plain.code, plain.message]).toEqual(["TOOL_FAILED", "a\nb"]);
    expect(readCallError({ isError: true }, "t").message).toContain("without a message");
    expect(readCallError({ isError: true, structuredContent: { code: "lower case" } }, "t").code).toBe("TOOL_FAILED");
  });

  test("bounds what an upstream says", () => {
    expect(readCallError({ isError: true, content: [text("x".repeat(1_000_000))] }, "t").message.length).toBeLessThan(2_100);
  });
});
