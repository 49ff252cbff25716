import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor } from "../redactor.ts";

const key = Buffer.alloc(32, 1);
const made = createRedactor({ secrets: [], key });

/** Put together here, so that no scanner takes this file for one that leaks. */
const body = "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3dEf6h";
const privateKey = `-----BEGIN ${"RSA"} PRIVATE KEY-----\nMIIEow${body}\n${body}\n-----END RSA PRIVATE KEY-----`;
const secrets: Readonly<Record<string, string>> = {
  aws: `AK${"IA"}IOSFODNN7EXAMPLE`,
  github: `gh${"p"}_${body.slice(0, 36)}`,
  githubFine: `github${"_pat_"}11ABCDEFG0_${body}`,
  gitlab: `gl${"pat-"}${body.slice(0, 20)}`,
  slack: `xo${"xb"}-123456789012-${body.slice(0, 24)}`,
  stripe: `sk${"_live_"}${body.slice(0, 24)}`,
  openai: `sk-${"proj"}-${body}`,
  google: `AI${"za"}${body.slice(0, 35)}`,
  npm: `np${"m_"}${body.slice(0, 36)}`,
  jwt: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${body}`,
};
const isHidden = (kind: string) => new RegExp(`\\[${kind} hash:[0-9a-f]{16}\\]`);

describe("detectors", () => {
  test.each(Object.entries(secrets))("find a token of the shape of %s, alone and in a text", (_name, secret) => {
    expect(made.text(secret)).toMatch(new RegExp(`^${isHidden("secret").source}$`));
    const shown = made.text(`it failed with ${secret}, try again`);
    expect(shown).toMatch(/^it failed with \[secret hash:[0-9a-f]{16}\], try again$/);
    expect(JSON.stringify(made.summary({ note: `x ${secret}` }, []))).not.toContain(secret.slice(-12));
  });

  test("find private keys, also where the text was cut inside of one", () => {
    expect(made.text(`key: ${privateKey} end`)).toMatch(/^key: \[secret hash:[0-9a-f]{16}\] end$/);
    expect(made.text(`key: ${privateKey.slice(0, 60)}`)).toMatch(/^key: \[secret hash:[0-9a-f]{16}\]$/);
  });

  test.each([
    ["postgres://app:hunter22@db.example:5432/shop", "postgres://app:*@db.example:5432/shop"],
    ["Authorization: Bearer sk-CANARY", "Authorization: Bearer *"],
    ["Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic *"],
    ['{"authorization":"Basic dXNlcjpwYXNz"}', '{"authorization":"Basic *"}'],
    ["Set-Cookie: sid=31d4d96e407aad42; Path=/", "Set-Cookie: *"],
    ["X-Api-Key: 31d4d96e407aad42", "X-Api-Key: *"],
    ["password=hunter22 user=ann", "password=* user=ann"],
    ['{"client_secret": "hunter22"}', '{"client_secret": "*"}'],
    ["Server=db;User=app;Pwd=hunter22;", "Server=db;User=app;Pwd=*;"],
    ["https://files.example/a?sig=31d4d96e407aad42&page=2", "https://files.example/a?sig=*&page=2"],
  ])("find what stands after a name of a secret: %s", (text, expected) => {
    expect(made.text(text).replace(isHidden("secret"), "*")).toBe(expected);
  });

  test.each([
    ["authorization: you may not call this"],
    ["Basic authentication is needed, a token is not"],
    ["the password must have 8 characters"],
    ["http://localhost:8080/path?page=2#top"],
    ["nextPageToken: eyJ is how some begin"],
    ["cookie: yes"],
  ])("leave prose alone: %s", (text) => {
    expect(made.text(text)).toBe(text);
  });

  test("hide what stands in a field named like a secret, whatever it looks like, and not that it is missing", () => {
    const shown = made.summary({ headers: { Authorization: "abc", "set-cookie": ["a=b"], accept: "text/html" }, password: "x", apiKey: 7, access_token: null, privateKey: "", passphrase: true }, []);
    expect(shown).toEqual({
      headers: { Authorization: expect.stringMatching(isHidden("secret")), "set-cookie": expect.stringMatching(isHidden("secret")), accept: "text/html" },
      password: expect.stringMatching(isHidden("secret")),
      apiKey: expect.stringMatching(isHidden("secret")),
      access_token: null,
      privateKey: "",
      passphrase: true,
    });
  });

  test.each([
    ["email", "ann.lee+news@mail.example", "write to ann.lee+news@mail.example, please"],
    ["phone", "+49 30 901820", "call +49 30 901820, please"],
    ["phone", "+1 (415) 555-2671", "call +1 (415) 555-2671, please"],
    ["card", "4111 1111 1111 1111", "charge 4111 1111 1111 1111, please"],
    ["card", "378282246310005", "charge 378282246310005, please"],
    ["card", "5555-5555-5555-4444", "card:5555-5555-5555-4444 please"],
    ["iban", "DE89 3704 0044 0532 0130 00", "pay to DE89 3704 0044 0532 0130 00 THANKS"],
    ["iban", "GB82WEST12345698765432", "pay to GB82WEST12345698765432."],
  ])("find %s: %s", (kind, value, text) => {
    if (!text.startsWith("card:")) expect(made.text(text).replace(isHidden(kind), "*")).toBe(text.replace(value, "*"));
    expect(made.summary({ note: value }, [])).toEqual({ note: expect.stringMatching(new RegExp(`^${isHidden(kind).source}$`)) });
  });

  test("give equal values equal hashes, however they are written, and the hash of a field that is declared sensitive", () => {
    const read = (text: string): string | undefined => /hash:[0-9a-f]{16}/.exec(made.text(text))?.[0];
    expect(read("4111 1111 1111 1111")).toBe(read("x 4111111111111111"));
    expect(read("DE89 3704 0044 0532 0130 00")).toBe(read("DE89370400440532013000"));
    expect(read("+1 (415) 555-2671")).toBe(read("+14155552671"));
    expect(read("to ann@mail.example")).toBe(made.summary("ann@mail.example", [""]));
    expect(made.summary(4111111111111111, [])).toBe(made.text("4111111111111111"));
    expect(read("ann@mail.example")).not.toBe(read("bob@mail.example"));
  });

  test("look where a tool switches them on, and not where it switches them off", () => {
    const value = { to: "ann@mail.example", note: { text: "ann@mail.example", keys: [secrets["github"]] } };
    const hash = made.text("ann@mail.example");
    expect(made.summary(value, [{ pointer: "/note", detect: { email: false } }])).toEqual({ to: hash, note: { text: "ann@mail.example", keys: [expect.stringMatching(isHidden("secret"))] } });
    expect(made.summary(value, [{ pointer: "", detect: { email: false } }, { pointer: "/note/text", detect: { email: true } }])).toMatchObject({ to: "ann@mail.example", note: { text: hash } });
    expect(made.summary({ list: [{ to: "ann@mail.example" }] }, [{ pointer: "/list/*/to", detect: { email: false } }])).toEqual({ list: [{ to: "ann@mail.example" }] });
    const off = createRedactor({ secrets: [], key, detect: { email: false } });
    expect(off.text("ann@mail.example")).toBe("ann@mail.example");
    expect(off.summary({ to: "ann@mail.example" }, [{ pointer: "/to", detect: { email: true } }])).toEqual({ to: hash });
  });

  test("a sensitive field stays so, whatever is switched there", () => {
    expect(made.summary({ to: "ann@mail.example" }, ["/to", { pointer: "/to", detect: { email: false } }])).toEqual({ to: expect.stringMatching(/^hash:/) });
  });

  test("show a person who answers what they answer for, without secrets; a model's own output whole", () => {
    expect(made.whole({ to: "ann@mail.example", key: secrets["stripe"] }, [])).toEqual({ to: "ann@mail.example", key: expect.stringMatching(isHidden("secret")) });
    expect(made.output("to ann@mail.example")).toBe("to ann@mail.example");
  });

  test("find nothing in ids of orders, UUIDs, times, prices, versions and hashes", () => {
    const time = fc.date({ min: new Date("1980-01-01"), max: new Date("2060-01-01"), noInvalidDate: true });
    const readable = fc.oneof(
      fc.uuid(),
      fc.constantFrom(...Array.from({ length: 50 }, () => randomUUID())),
      time.map((at) => at.toISOString()),
      time.map((at) => at.toISOString().replace("Z", "+01:00")),
      time.map((at) => String(at.getTime())),
      time.map((at) => String(Math.floor(at.getTime() / 1000))),
      fc.double({ min: 0, max: 1e9, noNaN: true }).map((price) => `€ ${price.toFixed(2)}`),
      fc.double({ min: 0, max: 1e6, noNaN: true }).map((change) => `+${change.toFixed(2)} %`),
      fc.nat({ max: 99_999_999 }).map((id) => `ORD-${id}`),
      fc.nat().map((id) => `#${id}`),
      fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99)).map((parts) => `callgate@${parts.join(".")}`),
      fc.integer({ min: 0, max: 2 ** 32 }).map((word) => `sha256:${word.toString(16).padStart(64, "0")}`),
      fc.stringMatching(/^[A-Z]{2,3}-\d{4,12}$/),
      fc.stringMatching(/^\d{13}$/),
      fc.stringMatching(/^run_[a-z2-7]{26}$/),
      fc.webUrl(),
    );
    fc.assert(
      fc.property(readable, readable, (one, two) => {
        const text = `order ${one}, see ${two}.`;
        expect(made.text(text)).toBe(text);
        expect(made.summary({ one, list: [two] }, [])).toEqual({ one, list: [two] });
      }),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 43), max: 2 ** 43 }), fc.double({ noNaN: true, noDefaultInfinity: true }), (whole, broken) => {
        expect(made.summary({ whole, broken }, [])).toEqual({ whole, broken });
      }),
    );
  });

  test("never show a planted value, whatever stands around it", () => {
    const around = fc.string({ unit: fc.constantFrom(" ", "\n", ",", ";", "(", ")", "<", ">", '"', "ü", "…"), maxLength: 20 });
    const planted = fc.constantFrom("4111111111111111", "DE89370400440532013000", "ann.lee@mail.example", "+4930901820", secrets["github"] ?? "", secrets["jwt"] ?? "");
    fc.assert(
      fc.property(around, planted, around, (before, value, after) => {
        expect(made.text(`a${before} ${value} ${after}`)).not.toContain(value);
      }),
    );
  });

  test("takes time in proportion to the text, of the worst kinds too: sixteen times the text is not 256 times the time", () => {
    const worst = ["a", "a.", "a@", "4", "4 ", "+1", "A1", "eyJa", "sk-a", "x://a:", "cookie=", "-----BEGIN A PRIVATE KEY-----", "password", "bearer a", ";pwd", "A".repeat(3)];
    const took = (text: string): number => {
      const started = process.cpuUsage().user;
      made.text(text);
      return process.cpuUsage().user - started;
    };
    for (const unit of worst) {
      const [small, large] = [unit.repeat(Math.ceil(50_000 / unit.length)), unit.repeat(Math.ceil(800_000 / unit.length))];
      took(small);
      const least = Math.min(took(small), took(small), took(small));
      // Sixteen times the text: quadratic would be 256 times the time.
      expect(took(large), unit).toBeLessThan(Math.max(least, 1_000) * 100);
    }
  });
});
