import { z } from "zod";
import { launcherNames } from "../launcher-names.ts";
import { agentSchema } from "./agent-schema.ts";
import { lintRuleIds } from "../lint/lint-rule.ts";
import { mcpServerSchema } from "./mcp-server-schema.ts";
import { sqlSchema } from "./sql-schema.ts";
import { documentsSchema } from "./documents-schema.ts";
import { embeddingSchema } from "./embedding-schema.ts";
import { searchApiSchema } from "./search-api-schema.ts";
import { graphqlSchema, openapiSchema } from "./service-schema.ts";

/** A setting that is only named here. @param what does not belong into the file */
const secretReference = (example: string, what = "a secret") => z.string().regex(/^(env:|file:|keychain:|\$\{)/, `must be a reference, such as env:${example}: ${what} does not belong into this file`);

const condition = z.unknown();

const limits = z.strictObject({
  cpuMs: z.int().positive().optional(),
  wallMs: z.int().positive().optional(),
  memoryMiB: z.int().min(8).optional(),
  stackKiB: z.int().positive().optional(),
  sourceBytes: z.int().positive().optional(),
  calls: z.int().positive().optional(),
  concurrentCalls: z.int().positive().optional(),
  likeFailures: z.int().positive().optional(),
  argumentBytes: z.int().positive().optional(),
  callResultBytes: z.int().positive().optional(),
  consoleBytes: z.int().positive().optional(),
  resultBytes: z.int().positive().optional(),
});

const scopes = z.array(z.enum(["tenant", "user", "agent", "task", "run", "source", "tool"]));

/** Which calls a limit counts. */
const counted = {
  id: z.string().regex(/^[\w-]{1,64}$/, "must be letters, digits, - or _").describe("Names it in errors and lists"),
  tools: z.union([z.string(), z.array(z.string()).min(1)]).optional().describe('Patterns over qualified names, such as "crm.*". Default: every tool'),
  per: scopes.optional().describe("What a count is kept apart for. Default: one for all"),
};

const rateLimit = z.strictObject({
  ...counted,
  calls: z.int().positive().max(1e9).describe("Attempts in one window"),
  windowSeconds: z.int().positive().max(86_400).describe("The window begins with its first call"),
});

const concurrencyLimit = z.strictObject({
  ...counted,
  calls: z.int().positive().max(1e6).describe("Calls under way at once in this process; others wait"),
  maxWaitMs: z.int().min(0).max(86_400_000).optional().describe("How long a call waits for its turn at most. Default: as long as it takes"),
});

const budget = z.strictObject({
  ...counted,
  window: z.enum(["hour", "day", "month"]).optional().describe("When it is full again, UTC. Default: never"),
  limits: z
    .strictObject({
      calls: z.int().positive().optional(),
      bytes: z.int().positive().optional().describe("Of arguments and results"),
      durationMs: z.int().positive().optional(),
      tokens: z.int().positive().optional().describe("Of models behind tools, as tools declare or report them"),
      microUsd: z.int().positive().optional().describe("Millionths of a US dollar, as tools declare or report them"),
    })
    .refine((limits) => Object.keys(limits).length > 0, { error: "says nothing: give calls, bytes, durationMs, tokens or microUsd" }),
});

const container = z.strictObject({
  image: z
    .union([z.string(), z.record(z.string(), z.string())])
    .optional()
    .describe("The image of all languages, or of each by name. sha256:… or name@sha256:… is pinned; a tag is resolved once and said. Default: what callgate sandbox images build makes"),
  engines: z.array(z.string()).optional().describe("Unix sockets of engines; the first that answers and has the labels is taken. Default: DOCKER_HOST or CONTAINER_HOST, else where each usually is"),
  labels: z.record(z.string(), z.string()).optional().describe('What the engine\'s own labels must say, such as { "zone": "eu" }: chooses a host'),
  runtime: z.string().optional().describe("Another runtime the engine knows: runsc, kata"),
  cpus: z.number().positive().optional().describe("Cores of one program, may be a fraction. Default 1"),
  gpus: z
    .union([z.literal("all"), z.int().positive(), z.array(z.string())])
    .optional()
    .describe("Graphics processors: all, so many, or these by id. Docker only"),
  channel: z.enum(["auto", "mount", "exec"]).optional().describe('How calls and results go: through pipes in a shared folder, or through the engine. Default "auto": a shared folder where that works'),
  extra: z.record(z.string(), z.union([z.string(), z.number()])).optional().describe("More of the engine's HostConfig: CpusetCpus, CpusetMems, CpuShares, BlkioWeight, OomScoreAdj, CgroupParent"),
});

const sandbox = z.strictObject({
  launcher: z.enum(launcherNames).optional().describe('What stands around Python, shell and Node programs; "deno" around TypeScript and JavaScript too, and it has no shell. Default "auto": the strongest that works here, never "local-unsafe", which is no wall at all. "remote": another host, see remote'),
  javascript: z
    .enum(["embedded", "node"])
    .optional()
    .describe('Where TypeScript and JavaScript run: in the embedded sandbox (default), or in the Node of this machine behind the launcher, with its modules and files. Either way the language "node" runs there'),
  languages: z
    .record(
      z.string(),
      z.strictObject({
        command: z.array(z.string().min(1)).min(1).describe('The command on the PATH of the sandbox; {file} in it is the program, else it is added: ["ruby"], ["go", "run", "{file}"]'),
        extension: z.string().optional().describe("Of its files, without the dot. Default: the shortest usual name of the language, else its own"),
        environment: z.record(z.string(), z.string()).optional().describe("Variables of its programs"),
      }),
    )
    .optional()
    .describe("Other languages by command: ruby, r, go, perl. Their programs call no tools"),
  maxGuests: z.int().positive().optional().describe("Programs in processes at once. Default 16"),
  warm: z.int().min(0).optional().describe("Interpreters kept ready for each language that was used. Default 1 in a process that lives long, 0 for one command"),
  processes: z.int().positive().optional().describe("Processes of one program. Default 64"),
  workspaceMiB: z.int().positive().optional().describe("Files of one program, in memory. Default 64"),
  mounts: z
    .array(z.strictObject({ host: z.string().min(1), guest: z.string().startsWith("/"), mode: z.enum(["ro", "rw", "overlay"]) }))
    .optional()
    .describe('Folders and files of this machine that programs see: "ro" as they are, "rw" to change them, "overlay" as a copy of their own whose changes go with the program'),
  remote: z
    .strictObject({
      url: z.string().describe("tls://host:port of a host that runs callgate sandbox serve"),
      token: secretReference("CALLGATE_SANDBOX_TOKEN")
        .optional()
        .describe("A reference to the token the server was started with"),
      ca: z.string().optional().describe("File: the authority of the server's certificate, PEM. Default: those of this system"),
      cert: z.string().optional().describe("File: this client's certificate, PEM, where the server asks for one"),
      key: z.string().optional().describe("File: the key of cert"),
      unsafePlainLoopback: z.boolean().optional().describe("Allows tcp:// to loopback: for a tunnel that somebody else secures"),
    })
    .optional()
    .describe('Where programs run when launcher is "remote"'),
  network: z
    .strictObject({
      allow: z.array(z.string()).describe('What programs may reach, each as host:port, such as "api.example.com:443". No wildcards; an empty list is no network'),
      unsafeRanges: z.array(z.string()).optional().describe("Parts of private, loopback, link-local and other special ranges that may be reached all the same, as CIDR, such as 10.1.2.0/24"),
    })
    .optional()
    .describe("The way out of Python and shell programs: an HTTP proxy that decides. Default: no network"),
  container: container.optional().describe("How docker and podman make their containers"),
  wheels: z.string().min(1).optional().describe("Folder of Python wheels that programs in Deno can import: pure ones, or built for its Pyodide"),
  environment: z.record(z.string(), z.string()).optional().describe("Variables of programs. Never a secret: programs read them"),
  passEnvironment: z.array(z.string().regex(/^[A-Za-z_]\w*$/)).optional().describe("Names of this process's own variables that programs see as well. Default none. Never a secret"),
});

const principal = z.strictObject({
  tenant: z.string().min(1).optional(),
  user: z.string().min(1).optional(),
  agent: z.string().optional().describe("Who acts for the user"),
  task: z.string().min(1).optional().describe("The piece of work: submitted again under the same one, keyed writes keep their keys"),
  roles: z.array(z.string()).optional(),
  claims: z.record(z.string(), z.json()).optional().describe('What else is known of the user, for rules: { "department": "finance" }'),
});

const approvalsMode = z.enum(["ask", "keep"]);

const approvals = z.strictObject({
  elicitation: z.boolean().optional().describe("Asks the person in front of an MCP client that has forms, through the client. Default true, and off once answers need a key or four eyes. Turn it off where a client answers by itself"),
  mode: approvalsMode.optional().describe('Where a person is asked. "ask" (default): at the terminal, or the client\'s own user interface, and where there is none the call is denied. "keep": questions wait in the journal for callgate approvals, the run suspended meanwhile'),
  keys: z
    .array(z.strictObject({ by: z.string().min(1).describe("Whose it is"), publicKey: z.string().min(1).describe("As callgate approver show prints it") }))
    .optional()
    .describe("Keys of approvers: only answers signed with one of these count. Default: the key that callgate approver init made for this user; without one, answers are advisory"),
  webhook: z
    .strictObject({
      url: z.string().min(1).describe("Where each question is posted, signed as Standard Webhooks say: https, or http on this machine. A reference such as env:ASK_URL where it is a secret"),
      secret: secretReference("ASK_SECRET").describe("A reference to what questions are signed with, at least 24 bytes"),
      answers: z
        .strictObject({
          url: z.string().min(1).optional().describe("Where the service posts answers to: /answers of callgate mcp --http, as the service reaches it. Default http://127.0.0.1:7423/answers"),
          secret: secretReference("ANSWER_SECRET").describe("A reference to what the service signs its answers with, at least 24 bytes, another one than secret"),
        })
        .optional()
        .describe("Lets the service answer. From then on answers count only from it, or signed by an approver's key. Default: it is only told"),
    })
    .optional()
    .describe("A service that questions are posted to, where people are asked. Questions are kept then, as with mode keep"),
  fourEyes: z.boolean().optional().describe("The user on whose behalf is asked may not answer either, whoever acts for them. Default false"),
  unsafeSelfApproval: z.boolean().optional().describe("Who asked may answer. For demonstrations. Default false"),
  expiryDays: z.number().positive().optional().describe("How long a question waits; then it is denied. Default 7"),
  maxPerMinute: z.int().positive().optional().describe("Questions of one run within a minute; further calls are denied without asking. Default 100"),
});

const alertRule = z.union([z.literal(false), z.strictObject({ over: z.number().min(0).optional().describe("What makes it an alert"), withinMinutes: z.number().positive().optional().describe("How far back is looked"), atLeast: z.int().min(1).optional().describe("Fewer calls say nothing about a rate") })]).optional();

const alerts = z.strictObject({
  webhook: z
    .strictObject({
      url: z.string().min(1).describe("Where alerts are posted, signed as Standard Webhooks say: https, or http on this machine. A reference such as env:ALERT_URL where it is a secret"),
      secret: secretReference("ALERT_SECRET").describe("A reference to what they are signed with, at least 24 bytes"),
    })
    .optional(),
  timeouts: alertRule.describe("Calls of one source that ran into their deadline: over 5 within 10 minutes. false: none"),
  failures: alertRule.describe("The share of one source's calls that failed: over 0.5 within 10 minutes, of at least 10"),
  denials: alertRule.describe("Denied calls of one principal: over 10 within 10 minutes"),
  limits: alertRule.describe("Calls of one source over a limit: over 20 within 10 minutes"),
  approvals: alertRule.describe("Minutes that a question waits: over 60"),
  parameters: alertRule.describe("An argument unlike those of the tool's calls before, once there were over 50"),
  validation: alertRule.describe("Calls of one tool that do not match its schema: over 3 times the usual rate within 10 minutes, of at least 5"),
});

const bearerToken = {
  token: secretReference("ANN_TOKEN")
    .optional()
    .describe("A reference to the token it sends"),
  tokenSha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, "must be the SHA-256 of the token, 64 hex digits")
    .optional()
    .describe("SHA-256 of the token it sends"),
};

interface GivenToken {
  readonly token?: string | undefined;
  readonly tokenSha256?: string | undefined;
}

const eitherToken = [({ token, tokenSha256 }: GivenToken): boolean => (token === undefined) !== (tokenSha256 === undefined), { error: "needs either token or tokenSha256" }] as const;

/** The part of the configuration that JSON can say. callgate.schema.json is printed from it. */
export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  principal: principal.optional().describe("On whose behalf calls are made. Default: the user of this machine"),
  profiles: z.record(z.string(), principal).optional().describe("Principals by name, for --profile and CALLGATE_PROFILE. What one leaves out is as principal says"),
  profile: z.string().optional().describe("The profile that is taken where none is named"),
  mcp: z
    .strictObject({
      clients: z
        .array(
          z
            .strictObject({
              profile: z.string().min(1).describe("Of profiles: on whose behalf the client acts"),
              ...bearerToken,
            })
            .refine(...eitherToken),
        )
        .optional()
        .describe("Clients of callgate mcp --http with a token of their own"),
      metrics: z
        .strictObject(bearerToken)
        .refine(...eitherToken)
        .optional()
        .describe("Who may read /metrics of callgate mcp --http: whoever sends this token, which opens nothing else. Default: it is not there"),
    })
    .optional()
    .describe("The server that callgate mcp starts"),
  toolsFolder: z.union([z.string(), z.literal(false)]).optional().describe('Folder of tool files beside this file. Default "tools"; false for none'),
  workflowsFolder: z.union([z.string(), z.literal(false)]).optional().describe('Folder of saved workflows beside this file (docs/guide/workflows.md). Default "workflows"; false for none. In code: no default'),
  templatesFolder: z.union([z.string(), z.literal(false)]).optional().describe('Folder of task templates beside this file (docs/guide/templates.md). Default "templates"; false for none. In code: no default'),
  mcpServers: z.record(z.string(), mcpServerSchema).optional().describe("MCP servers, as other clients write them"),
  sql: z.record(z.string(), sqlSchema).optional().describe("Databases whose tables become tools; see docs/guide/sql.md"),
  openapi: z.record(z.string(), openapiSchema).optional().describe("Services with an OpenAPI document, by namespace; see docs/guide/openapi.md"),
  graphql: z.record(z.string(), graphqlSchema).optional().describe("GraphQL services, by namespace; see docs/guide/graphql.md"),
  documents: z.record(z.string(), documentsSchema).optional().describe("Folders of documents, or tables, to search and read, by namespace; see docs/guide/documents.md"),
  searchApis: z.record(z.string(), searchApiSchema).optional().describe("Services that search the web, by namespace; see docs/guide/documents.md"),
  rules: z.array(condition).optional().describe("Who may call what; see docs/guide/policy.md"),
  policy: z
    .strictObject({
      files: z.array(z.string().min(1)).optional().describe('Files of Cedar policies beside this one, such as "policies/*.cedar". They hold together with rules'),
      mode: z.enum(["enforce", "observe"]).optional().describe('"observe" stops nothing: what would have been asked or denied is only recorded. Default "enforce"'),
      next: z
        .strictObject({
          rules: z.array(condition).optional().describe("In place of rules"),
          files: z.array(z.string().min(1)).optional().describe("In place of files"),
          stage: z.enum(["shadow", "enforce"]).optional().describe('"shadow" (default): it decides nothing, and where it would have decided otherwise, that is on record. "enforce": it decides'),
          share: z.number().min(0).max(1).optional().describe("Of the runs. A run is in or out as a whole. Default 1"),
          users: z.array(z.string()).optional().describe("Only for these"),
          agents: z.array(z.string()).optional(),
          roles: z.array(z.string()).optional().describe("Only for who has one of these"),
          tenants: z.array(z.string()).optional(),
        })
        .optional()
        .describe("The policy that is to take over, step by step; see docs/guide/policy.md"),
      unsafeWithoutOutflowRule: z.boolean().optional().describe("Leaves out the rule that asks before something is sent out once private data and untrusted content have been read. Default false"),
    })
    .optional()
    .describe("Cedar policies, and whether they are enforced; see docs/guide/policy.md"),
  limits: limits.optional().describe("Bounds of every run"),
  rateLimits: z.array(rateLimit).optional().describe("How often tools may be called; see docs/guide/limits.md"),
  concurrencyLimits: z.array(concurrencyLimit).optional().describe("How many calls may be under way at once"),
  budgets: z.array(budget).optional().describe("How much calls may use up, over all processes of the journal"),
  circuitBreaker: z
    .strictObject({
      failures: z.int().positive().max(1e6).describe("Faults in a row after which a source is left alone: timeouts, lost connections, errors that may pass"),
      openMs: z.int().min(100).max(86_400_000).describe("For how long; then one call tries"),
      sources: z.union([z.string(), z.array(z.string()).min(1)]).optional().describe('Patterns over namespaces, such as "github". Default: every source'),
    })
    .optional()
    .describe("Leaves sources alone that fail. Default: none is"),
  cache: z
    .strictObject({
      store: z.enum(["memory", "sqlite", "redis"]).optional().describe('Where answers of tools that declare cache are kept: in this process (default), in a file for the processes of this machine, or in Redis for all. Outside of memory they are encrypted'),
      maxMiB: z.int().positive().optional().describe("Of the file. Default 64"),
    })
    .optional()
    .describe("Answers that serve later calls"),
  alerts: alerts.optional().describe("What is told to a person by callgate watch, and by callgate mcp and worker once this is here; see docs/guide/monitoring.md"),
  secrets: z
    .record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "is of letters, digits, - and _"), z.strictObject({ from: secretReference("STRIPE_KEY"), tools: z.array(z.string().min(1)).min(1).describe("Which tools may be given it: names and globs, such as billing.*") }))
    .optional()
    .describe('What programs can pass to tools and not read: { "stripe": { "from": "env:STRIPE_KEY", "tools": ["billing.*"] } } is written "secret://stripe" in a program. See docs/guide/secrets.md'),
  redis: secretReference("REDIS_URL", "a URL with a password")
    .optional()
    .describe("A reference to the URL of a Redis that several processes share: rate limits are counted there, and cache can be kept there. Default: each process counts its own"),
  sandbox: sandbox.optional().describe("Process sandboxes; see docs/guide/sandboxes.md"),
  agent: agentSchema.optional(),
  embedding: embeddingSchema.optional(),
  learnOutputs: z.boolean().optional().describe("Keeps which fields tools that declare no output were seen to answer, never a value, for declarations and for warnings of the check. Default true; see docs/guide/tools-and-types.md"),
  check: z
    .strictObject({ scan: z.record(z.string(), z.enum(["deny", "review", "note", "off"])).optional().describe('What becomes of the scanner\'s findings, by rule or the beginning of its name: { "PY_EVAL": "deny", "SH_": "note" }. "review" asks a person before the program runs') })
    .optional()
    .describe("The check of programs"),
  lint: z
    .strictObject({ rules: z.partialRecord(z.enum(lintRuleIds), z.enum(["warning", "note", "off"])).optional().describe('What a rule\'s findings are: { "no-examples": "off", "no-output": "warning" }. See docs/reference/lint.md') })
    .optional()
    .describe("The review of tools by callgate lint"),
  budgetTokens: z.int().min(100).optional().describe("What a model sees of one run, in o200k tokens. Default 2000"),
  python: z
    .strictObject({
      version: z
        .string()
        .regex(/^3\.\d{1,2}$/)
        .optional()
        .describe('Version of the Python that runs programs; newer syntax and modules are refused. Default "3.11"'),
      modules: z.array(z.string().regex(/^[A-Za-z_]\w*$/)).optional().describe("Modules that may be imported beside the standard library, by their first name: pandas"),
      folders: z.array(z.string().min(1)).optional().describe("Folders of this machine whose own modules may be imported as well, because programs see them: mount them, and name them in sandbox.environment.PYTHONPATH"),
    })
    .optional()
    .describe("Python programs"),
  node: z
    .strictObject({ packages: z.array(z.string().min(1)).optional().describe("Packages that programs in Node may import, by name. Programs find them where sandbox.mounts puts them: a node_modules at /node_modules") })
    .optional()
    .describe("TypeScript and JavaScript in real Node"),
  detect: z
    .strictObject({ secret: z.boolean().optional(), email: z.boolean().optional(), phone: z.boolean().optional(), card: z.boolean().optional(), iban: z.boolean().optional() })
    .optional()
    .describe("Detectors whose findings become hashes in everything that is written down. Default: all; a tool may say otherwise for parts of its values"),
  approvals: z.union([approvalsMode, approvals]).optional().describe("Where a person is asked, and whose answers count; see docs/guide/approvals.md. A word alone is the mode"),
  suspendAfterMs: z.int().min(0).optional().describe("How long a program that only waits is kept before its run is suspended. Default 2000"),
  leaseMs: z.int().min(1000).optional().describe("How long a run stays with a process that gives no sign of life. Default 30000"),
  journal: z
    .strictObject({
      path: z.string().optional().describe("Default: callgate/journal.db in the user's state folder. :memory: keeps the record in the process alone, for tests"),
      postgres: secretReference("DATABASE_URL", "a URL with a password")
        .optional()
        .describe("A reference to the URL of a PostgreSQL database, such as env:DATABASE_URL: the journal is there, shared by many machines, instead of in a file"),
      keyFile: z.string().optional().describe("The master key; the same on every machine of a shared journal. Default: master.key in the user's state folder"),
      maxMiB: z.int().positive().optional().describe("Oldest ended runs are removed above it. Default 512"),
      maxAgeDays: z.number().positive().optional().describe("Ended runs older than this are removed. Default 30"),
      maxKeyAgeDays: z.number().positive().optional().describe("How long the idempotency keys of removed runs are kept, so that the same task is not done twice. Default 400"),
    })
    .optional(),
});

export type ConfigFile = z.infer<typeof configSchema>;
export type SandboxConfig = z.infer<typeof sandbox>;
