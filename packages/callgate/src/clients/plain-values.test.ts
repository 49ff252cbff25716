import { expect, test } from "vitest";
import { isPlainValue } from "./plain-values.ts";

test.each([
  ["LOG_LEVEL", "debug"],
  ["DEBUG", "true"],
  ["PORT", "8080"],
  ["MEMORY_FILE_PATH", "/home/me/memory.jsonl"],
  ["PATH", "/opt/homebrew/bin:/usr/bin"],
  ["GITLAB_API_URL", "https://gitlab.example.com"],
  ["LANG", "en_US"],
  ["ROOT", "C:\\Users\\me\\docs"],
])("%s=%s may be copied", (name, value) => expect(isPlainValue(name, value)).toBe(true));

test.each([
  ["BRAVE_KEY", "word"],
  ["GITHUB_TOKEN", "x"],
  ["DB_PASSWORD", "/a/path"],
  ["DATABASE_URL", "postgres://u:p@h/d"],
  ["SQLITE", "file:./dev.db"],
  ["HOOK", "https://hooks.slack.com/services/T0AAAA/B0AAAA/abcdef"],
  ["SEARCH", "https://x.example/mcp?q=1"],
  ["WORKSPACE", "x7Gh2kLm9Qp4Rt8Vw3Yz"],
  ["HOST", "a1b2c3d4e5f6a7b8c9d0e1f2.example.com"],
  ["DIR", "/9j/4AAQSkZJRgABAQAAAQABAAD"],
  ["NOTE", "my dog is called Rex"],
])("%s=%s may not", (name, value) => expect(isPlainValue(name, value)).toBe(false));
