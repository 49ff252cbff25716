import { expect, test } from "vitest";
import { isKeyLike, isPlainValue } from "./plain-values.ts";

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

test.each([
  ["LICENSE", "word"],
  ["LICENSE2", "ABCD-EFGH-1234-9876"],
  ["UNIT", "ABCD-EFGH-1234-9876"],
  ["DB_PIN", "938271"],
  ["PIN", "1234"],
  ["dbPin", "1234"],
  ["LIMIT", "938271"],
  ["HOST", "hunter2"],
  ["ID", "550e8400-e29b-41d4-a716-446655440000"],
])("%s=%s may not be copied either", (name, value) => expect(isPlainValue(name, value)).toBe(false));

test.each(["@modelcontextprotocol/server-filesystem@1.2.3", "@upstash/context7-mcp", "mcp-server-fetch==2025.4.7", "ghcr.io/github/github-mcp-server:v0.3.1", "python3.11", "./src/index.ts", "C:\\Users\\me\\AppData\\Roaming", "print('hello')", "--max-old-space-size=4096", "us-east-1"])("%s is no key", (word) => expect(isKeyLike(word)).toBe(false));
