import { expect, test } from "vitest";
import { completePrincipal, profilePrincipal } from "./principal-input.ts";

const config = {
  principal: { tenant: "acme", roles: ["clerk"] },
  profiles: { work: { user: "ann", agent: "claude", claims: { department: "finance" } }, night: { user: "batch", roles: [], task: "nightly" } },
};

test("a profile is a whole principal: what it leaves out is as the configuration's principal, then the local user's", () => {
  expect(completePrincipal(profilePrincipal(config, "work"))).toEqual({ tenant: "acme", user: "ann", agent: "claude", roles: ["clerk"], claims: { department: "finance" } });
  expect(completePrincipal(profilePrincipal(config, "night"))).toEqual({ tenant: "acme", user: "batch", task: "nightly", roles: [], claims: {} });
  expect(completePrincipal(profilePrincipal({ ...config, profile: "night" }, undefined)).user).toBe("batch");
  expect(completePrincipal(profilePrincipal(config, undefined))).toEqual({ tenant: "acme", user: "local", roles: ["clerk"], claims: {} });
});

test.each(["wrok", "__proto__", "constructor", ""])("there is no profile %j, and nobody acts as somebody else for that", (name) => {
  expect(() => profilePrincipal(config, name)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("there are work, night") as string }) as Error);
});
