import { expect, test } from "vitest";
import { configuredSecrets } from "./configured-secrets.ts";

const host = { env: { KEY: "sk_live_40718", SHORT: "abc" }, folder: "." };

test("a secret is read from where its reference leads, and is for the tools named", () => {
  const held = configuredSecrets({ stripe: { from: "env:KEY", tools: ["billing.*", "shop.pay"] } }, host);
  expect(held?.clear).toEqual(["sk_live_40718"]);
  expect(["billing.pay", "shop.pay", "shop.list"].map((tool) => held?.vault.namesFor(tool))).toEqual([["stripe"], ["stripe"], []]);
  expect(held?.vault.reveal({ a: "secret://stripe" }, "billing.pay")).toEqual({ a: "sk_live_40718" });
  // Whoever puts other arguments in the place of those that were checked gets no further.
  expect(held?.vault.reveal({ a: "secret://stripe" }, "shop.list")).toEqual({ a: "secret://stripe" });
  expect(configuredSecrets({}, host)).toBeUndefined();
});

test.each([
  [{ x: { from: "env:NOPE", tools: ["a.b"] } }, /secrets\.x refers to the environment variable NOPE, which is not set/],
  [{ x: { from: "env:SHORT", tools: ["a.b"] } }, /secrets\.x: the secret is 3 characters long/],
  [{ x: { from: "env:KEY", tools: ["a.b.c"] } }, /secrets\.x\.tools\[0\]: "a\.b\.c" can match no tool/],
])("what cannot be kept is refused: %j", (secrets, message) => expect(() => configuredSecrets(secrets, host)).toThrow(message));

test("an answer that holds a secret in the middle of a number is given to nobody", () => {
  const held = configuredSecrets({ pin: { from: "env:PIN", tools: ["a.b"] } }, { env: { PIN: "40718123" }, folder: "." });
  expect(held?.vault.conceal({ json: '{"n":407181234}', tagged: false })).toBeUndefined();
  expect(held?.vault.conceal({ json: '{"n":"x40718123"}', tagged: false })).toEqual({ json: '{"n":"xsecret://pin"}', tagged: false });
});
