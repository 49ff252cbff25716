import { describe, expect, test } from "vitest";
import { childEnv } from "./child-env.ts";

describe("childEnv", () => {
  test("mcp-009: hands on a short list and what is configured, never the host's other variables", () => {
    const host = { PATH: "/bin", HOME: "/home/a", AWS_SECRET_ACCESS_KEY: "s3cret", GITHUB_TOKEN: "t", LANG: "() { :; }; x" };
    expect(childEnv(host, { API_KEY: "mine" })).toEqual({ PATH: "/bin", HOME: "/home/a", API_KEY: "mine" });
  });

  test("lets the configuration win", () => {
    expect(childEnv({ PATH: "/bin" }, { PATH: "/opt/bin" })).toEqual({ PATH: "/opt/bin" });
  });
});
