import { describe, expect, test } from "vitest";
import { formFields } from "./form-fields.ts";

const schema = {
  type: "object",
  properties: {
    note: { type: "string", description: "A note" },
    count: { type: "integer", minimum: 1, default: 3 },
    urgent: { type: "boolean" },
    color: { enum: ["red", 7, null] },
    tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
    names: { type: "array", items: { type: "string" }, minItems: 2 },
    place: { $ref: "#/$defs/place" },
    email: { type: "string", pattern: "^.+@.+$" },
  },
  required: ["email", "count"],
  $defs: { place: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
};

describe("formFields", () => {
  const fields = formFields(schema) ?? [];
  const field = (name: string) => fields.find((one) => one.name === name) ?? expect.fail(name);

  test("asks for each by what it is, those that are needed first", () => {
    expect(fields.map(({ name, isRequired, input }) => [name, isRequired, input.kind])).toEqual([
      ["count", true, "number"],
      ["email", true, "text"],
      ["note", false, "text"],
      ["urgent", false, "yes_no"],
      ["color", false, "choice"],
      ["tags", false, "choices"],
      ["names", false, "texts"],
      ["place", false, "json"],
    ]);
    expect(field("count").byDefault).toBe(3);
    expect(field("note").description).toBe("A note");
  });

  test.each([
    ["count", "4", 4],
    ["email", "a@b", "a@b"],
    ["names", "Ada, Grace ,", ["Ada", "Grace"]],
    ["place", '{ "city": "Bonn" }', { city: "Bonn" }],
    ["note", "", ""],
  ])("%s takes %j", (name, typed, value) => expect(field(name).read(typed)).toEqual({ kind: "value", value }));

  test.each([
    ["count", "four"],
    ["count", ""],
    ["count", "0"],
    ["count", "1.5"],
    ["email", "nobody"],
    ["names", "Ada"],
    ["place", "Bonn"],
    ["place", "{}"],
  ])("%s says what is wrong with %j", (name, typed) => expect(field(name).read(typed)).toMatchObject({ kind: "invalid", problem: expect.stringMatching(/\w/) as string }));

  test("what is no list of fields is asked for as a whole", () => {
    expect(formFields({ oneOf: [{ type: "object" }] })).toBeUndefined();
    expect(formFields({ type: "object" })).toEqual([]);
  });
});
