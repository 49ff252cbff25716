import { describe, expect, test } from "vitest";
import { beginsWithBlock, composeProgram } from "./compose-program.ts";
import { inferInputs, literalValues, withInputs } from "./infer-inputs.ts";

const replaced = (language: string, text: string, args: Parameters<typeof inferInputs>[1]): string => withInputs({ text, language }, inferInputs({ text, language }, args));

describe("literals that went into calls", () => {
  test.each([
    ["typescript", 'await tools.shop.get({ id: "W1" });', [{ id: "W1" }], "await tools.shop.get({ id: inputs.id });"],
    ["typescript", 'const id: string = "W1"; if (x === "W1") y("W1" + z);', [{ id: "W1" }], 'const id: string = inputs.id; if (x === "W1") y("W1" + z);'],
    ["typescript", "f({ ids: [101, 102] })", [{ ids: [101, 102] }], "f({ ids: [inputs.ids, inputs.ids_2] })"],
    ["python", 'shop.get(id="W1")', [{ id: "W1" }], 'shop.get(id=inputs["id"])'],
    ["python", "shop.get(id='W1', n=7)", [{ id: "W1", n: 7 }], 'shop.get(id=inputs["id"], n=inputs["n"])'],
    ["python", 'order: str = "W1"\nshop.get(id=order)', [{ id: "W1" }], 'order: str = inputs["order"]\nshop.get(id=order)'],
    ["python", 'shop.send(**{"from": "W1", "to": ["a1", "b2"]})', [{ from: "W1", to: ["a1", "b2"] }], 'shop.send(**{"from": inputs["from"], "to": [inputs["to"], inputs["to_2"]]})'],
    ["python", 'if status == "W1":\n    shop.get(id="W" + "1")', [{ id: "W1" }], 'if status == "W1":\n    shop.get(id="W" + "1")'],
    ["python", 'shop.get(id=r"W1", text="""W1""", note=f"W1")', [{ id: "W1" }], 'shop.get(id=r"W1", text="""W1""", note=f"W1")'],
    ["python", 'print("W1")', [{ id: "W1" }], 'print("W1")'],
  ])("%s: %s", (language, text, args, expected) => {
    expect(replaced(language, text, args)).toBe(expected);
  });

  test("one value is one input wherever it stands, and a text that differs in its literals alone has the same places", () => {
    const text = 'a(id="W1")\nb(order="W1")';
    const inputs = inferInputs({ text, language: "python" }, [{ id: "W1" }, { order: "W1" }]);
    expect(inputs).toMatchObject([{ name: "id", value: "W1", places: [0, 1] }]);
    expect(withInputs({ text: text.replaceAll("W1", "<id#1>"), language: "python" }, inputs)).toBe('a(id=inputs["id"])\nb(order=inputs["id"])');
    expect(literalValues({ text: "x = [1, 'a']", language: "python" })).toEqual([1, "a"]);
  });
});

test("inputs stand before a Python program on its first line, but where that has a block of its own", () => {
  const python = { name: "x", language: "python", input: { type: "object" } } as const;
  expect(composeProgram(python, 'shop.get(id=inputs["id"])\n', { id: "W1" })).toBe('import json; inputs = json.loads("{\\"id\\":\\"W1\\"}"); shop.get(id=inputs["id"])\n');
  expect(composeProgram(python, 'for id in inputs["ids"]:\n    print(id)\n', { ids: [1] })).toContain('");\nfor id');
  expect(["def f():", "async def f():", "@cache", "if x:", "with a:", "try:"].map(beginsWithBlock)).toEqual([true, true, true, true, true, true]);
  expect(["ifx = 1", "format(1)", "import json", "\nfor x in y:"].map(beginsWithBlock)).toEqual([false, false, false, false]);
});
