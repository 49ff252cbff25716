import { afterAll, describe, expect, test } from "vitest";
import { valueOf } from "@callgate/testkit";
import { createQuickJsDriver } from "../driver.ts";

/** Expressions whose text must be what Node makes of them, in UTC. */
const numbers: readonly string[] = [
  "(1234567.891).toLocaleString()",
  "(1234.5).toLocaleString('en-US',{style:'currency',currency:'USD'})",
  "(-1234.567).toLocaleString('en-US',{style:'currency',currency:'EUR'})",
  "(0.1234).toLocaleString('en-US',{style:'percent',maximumFractionDigits:1})",
  "(1.005).toLocaleString('en-US',{minimumFractionDigits:2,maximumFractionDigits:2})",
  "(1e21).toLocaleString()",
  "(1e-7).toLocaleString()",
  "(0.5).toLocaleString('en-US',{maximumFractionDigits:0})",
  "(1.5).toLocaleString('en-US',{maximumFractionDigits:0})",
  "(2.5).toLocaleString('en-US',{maximumFractionDigits:0})",
  "(12345678901234567890n).toLocaleString()",
  "(1234).toLocaleString('en-US',{useGrouping:false})",
  "(5).toLocaleString('en-US',{minimumIntegerDigits:3})",
  "NaN.toLocaleString()",
  "(-0).toLocaleString()",
  "Infinity.toLocaleString()",
  "(1999.5).toLocaleString('en-US',{style:'currency',currency:'JPY'})",
  "(12).toLocaleString('en-US',{style:'currency',currency:'CHF'})",
  "new Intl.NumberFormat('en-US').format(12345.678)",
];
const dates: readonly string[] = [
  "[1234.5,new Date(0)].toLocaleString('en-US')",
  "new Date(0).toLocaleString('en-US',{timeZone:'UTC'})",
  "new Date(1e12).toLocaleDateString('en-US',{timeZone:'UTC'})",
  "new Date(1e12).toLocaleTimeString('en-US',{timeZone:'UTC'})",
  "new Date(1e12).toLocaleDateString('en-US',{weekday:'long',year:'numeric',month:'long',day:'numeric',timeZone:'UTC'})",
  "new Date(1e12).toLocaleDateString('en-US',{month:'short',day:'numeric',timeZone:'UTC'})",
  "new Date(1e12).toLocaleDateString('en-US',{month:'long',year:'numeric',timeZone:'UTC'})",
  "new Date(1e12).toLocaleString('en-US',{dateStyle:'medium',timeStyle:'short',timeZone:'UTC'})",
  "new Date(1e12).toLocaleString('en-US',{dateStyle:'full',timeStyle:'long',timeZone:'UTC'})",
  "new Date(1e12).toLocaleTimeString('en-US',{hour:'2-digit',minute:'2-digit',timeZone:'UTC'})",
  "new Date(1e12).toLocaleTimeString('en-US',{hour:'numeric',minute:'2-digit',hour12:false,timeZone:'UTC'})",
  "new Date(1e12).toLocaleDateString('en-US',{weekday:'short',timeZone:'UTC'})",
  "new Date(1e12).toLocaleDateString('en-US',{year:'2-digit',month:'2-digit',day:'2-digit',timeZone:'UTC'})",
  "new Date(1e12).toLocaleDateString('en-US',{year:'numeric',month:'short',day:'2-digit',weekday:'short',timeZone:'UTC'})",
  "new Date(1e12).toLocaleString('en-US',{month:'short',day:'numeric',hour:'numeric',minute:'2-digit',timeZone:'UTC'})",
  "new Date(1e12).toLocaleDateString('en-US',{dateStyle:'short',timeZone:'UTC'})",
  "new Date(1e12).toLocaleTimeString('en-US',{timeStyle:'short',timeZone:'UTC'})",
  "new Date(1e12).toLocaleDateString('en-US',{month:'long',timeZone:'UTC'})",
  "new Date(1e12).toLocaleTimeString('en-US',{hour:'numeric',timeZone:'UTC'})",
  "new Date(NaN).toLocaleString('en-US')",
  "new Intl.DateTimeFormat('en-US',{timeZone:'UTC'}).format(new Date(1e12))",
];
const others: readonly string[] = [
  "new URL('../x?q=1#h','http://user:pa@EXämple.com:8080/a/b/c').href",
  "(()=>{const u=new URL('http://a.com');u.searchParams.append('q','a b&c');u.searchParams.set('x','ü');u.pathname='/p q';u.hash='z';return u.href+u.search})()",
  "[...new URLSearchParams('a=1&b=2&a=3')].join()",
  "new URLSearchParams({a:'1 2',b:'ü'}).toString()",
  "new URLSearchParams([['a','b']]).get('a')",
  "URL.canParse('nope')",
  "(()=>{try{new URL('nope')}catch(e){return e.name}})()",
  "new URL('http://a.com/?a=1').searchParams.size",
  "JSON.stringify({u:new URL('http://a.com/%zz')})",
  "(()=>{const u=new URL('http://a.com/?a=1');u.search='?b=2';return u.searchParams.get('b')+u.searchParams.has('a')})()",
  "(()=>{const p=new URLSearchParams('b=1&a=2');p.sort();p.delete('b');return p.toString()+p.size})()",
  "new TextEncoder().encode('aé€😀\\ud800').join()",
  "new TextDecoder().decode(new Uint8Array([0xef,0xbb,0xbf,97,0xc3,0xa9,0xff,0xe2,0x82,0xf0,0x9f,0x98,0x80,0xc0,0x80]))",
  "(()=>{const d=new TextDecoder();return d.decode(new Uint8Array([0xe2,0x82]),{stream:true})+d.decode(new Uint8Array([0xac]))})()",
  "(()=>{try{new TextDecoder('utf-8',{fatal:true}).decode(new Uint8Array([255]))}catch(e){return e.name}})()",
  "new TextEncoder().encodeInto('a€',new Uint8Array(3)).written",
  "btoa('hello')+btoa('a')+btoa('ab')",
  "atob('aGVsbG8=')+atob(' aGk ')+atob('YQ')",
  "(()=>{try{atob('*')}catch(e){return e.name}})()",
  "(()=>{const a={d:new Date(5),m:new Map([[1,{x:1}]]),s:new Set([1]),u:new Uint8Array([1,2]),r:/x/gi,n:null,b:1n};a.self=a;const c=structuredClone(a);return [c!==a,c.self===c,c.d.getTime(),c.m.get(1).x,c.s.has(1),c.u.join(),c.r.flags,String(c.b)].join()})()",
  "(()=>{try{structuredClone(()=>1)}catch(e){return e.name}})()",
  "structuredClone([1,,3]).length",
  "['b','a','B','A','é','e','Z','z','_','1','10','2',' ','!','ä','résumé','resume','Resume'].sort((x,y)=>x.localeCompare(y)).join()",
  "['a10','a2','A1'].sort((x,y)=>x.localeCompare(y,undefined,{numeric:true})).join()",
  "'a'.localeCompare('A','en',{sensitivity:'base'})",
  "'a'.localeCompare('á','en',{sensitivity:'base'})",
  "['co-op','coop','co op','Co'].sort(new Intl.Collator('en').compare).join()",
  "structuredClone(new RangeError('x')).name",
];
/** What is not supported → a word of the error that says so. */
const refused: readonly (readonly [expression: string, word: string])[] = [
  ["(1).toLocaleString('de')", "en-US"],
  ["new Date().toLocaleDateString('fr-FR')", "en-US"],
  ["new Date().toLocaleString('en-US', { timeZone: 'America/New_York' })", "UTC"],
  ["'a'.localeCompare('b', 'sv')", "en-US"],
  ["'a'.toLocaleUpperCase('tr')", "en-US"],
  ["(1).toLocaleString('en-US', { notation: 'compact' })", "notation"],
  ["new Date().toLocaleString('en-US', { era: 'long' })", "era"],
  ["new Intl.PluralRules('en-US')", "PluralRules"],
  ["new TextDecoder('latin1')", "utf-8"],
  ["crypto.getRandomValues(new Float64Array(1))", "integer"],
];

describe("the guest's web surface", () => {
  const driver = createQuickJsDriver({ workers: 1 });
  afterAll(() => driver.close());
  const evaluate = eval; // oxlint-disable-line no-eval -- the expressions are the ones above
  const zone = process.env["TZ"];
  process.env["TZ"] = "UTC";
  const byNode = (expression: string): string => String(evaluate(expression));
  afterAll(() => {
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  });

  test.each([
    ["numbers", numbers],
    ["dates", dates],
    ["URL, text coding, structuredClone, comparing texts", others],
  ])("gives what Node gives: %s", async (_what, expressions) => {
    for (const expression of expressions) expect(String(await valueOf(driver, `return ${expression}`)), expression).toBe(byNode(expression));
  });

  test.each(refused)("refuses instead of ignoring: %s", async (expression, word) => {
    expect(await valueOf(driver, `try { return ${expression} } catch (error) { return error.message }`)).toContain(word);
  });

  test("names what to use instead of what is not there, and leaves typeof alone", async () => {
    for (const name of ["fetch", "process", "require", "Buffer", "performance", "setImmediate"]) {
      expect(await valueOf(driver, `return typeof ${name}`)).toBe("undefined");
      await expect(valueOf(driver, `return ${name}`)).rejects.toThrow(`${name} is not defined: `);
    }
    await expect(valueOf(driver, `return await import("node:fs")`)).rejects.toThrow("import() is not there");
    await expect(valueOf(driver, `return misspelt`)).rejects.toThrow("misspelt is not defined");
  });
});
