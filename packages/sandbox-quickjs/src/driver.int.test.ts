import { testSandboxDriver } from "@callgate/testkit";
import { createQuickJsDriver } from "./driver.ts";

testSandboxDriver("createQuickJsDriver", () => createQuickJsDriver({ workers: 2 }), { dialect: "javascript" });
