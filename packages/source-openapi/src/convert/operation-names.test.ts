import { describe, expect, test } from "vitest";
import { identifierOf } from "@callgate/runtime/catalog";
import { nameOperations } from "./operation-names.ts";

const get = (path: string, operationId?: unknown) => ({ method: "GET", path, operationId });

describe("names of operations", () => {
  test.each([
    ["the operation's own", get("/x", "listPets"), "listPets"],
    ["without what is no letter", get("/x", "repos/list-for-user"), "repos_list_for_user"],
    ["of nested groups", get("/x", "gmail.users.messages.list"), "gmail_users_messages_list"],
    ["a word that means something", get("/x", "delete"), "delete_"],
    ["a number", get("/x", "2fa"), "_2fa"],
    ["missing", get("/users/{id}/posts/{postId}"), "get_users_by_id_posts_by_postId"],
    ["no text", get("/a", 7), "get_a"],
    ["blank", get("/a.json", " - "), "get_a_json"],
    ["in another script", get("/pets", "获取用户"), "get_pets"],
    ["of the root", get("/"), expect.stringMatching(/^get_[0-9a-f]{6}$/)],
    ["long", get("/a", "word_".repeat(30)), expect.stringMatching(/^(?:word_){11}[0-9a-f]{6}$/)],
    ["one long word", get("/a", "x".repeat(500)), expect.stringMatching(/^x{57}_[0-9a-f]{6}$/)],
  ])("%s", (_what, operation, name) => {
    const [given = ""] = nameOperations([operation]);
    expect(given).toEqual(name);
    expect(given.length).toBeLessThanOrEqual(64);
    expect(identifierOf(given, "tool")).toBe(given);
  });

  test("that meet are told apart by method and path, whatever their order", () => {
    const operations = [get("/users", "list"), get("/posts", "list"), get("/a", "other")];
    expect(nameOperations(operations)).toEqual(["get_users", "get_posts", "other"]);
    expect(nameOperations(operations.toReversed())).toEqual(["other", "get_posts", "get_users"]);
  });

  test("that still meet get a digest, the one they meet too", () => {
    const names = nameOperations([get("/a-b"), get("/a_b"), get("/c", "get_a_b"), get("/d", "get_c")]);
    expect(names).toEqual([expect.stringMatching(/^get_a_b_[0-9a-f]{6}$/), expect.stringMatching(/^get_a_b_[0-9a-f]{6}$/), expect.stringMatching(/^get_c_[0-9a-f]{6}$/), expect.stringMatching(/^get_c_[0-9a-f]{6}$/)]);
    expect(new Set(names).size).toBe(4);
  });

  test("do not depend on what else is there", () => {
    const [long] = nameOperations([get("/a", "x".repeat(100))]);
    expect(nameOperations([get("/b", "y"), get("/a", "x".repeat(100))])[1]).toBe(long);
  });
});
