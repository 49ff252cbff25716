/** Where a connection is to go, in the one spelling that is compared. */
export interface Target {
  /** Lower case, IDNA applied, IPv4 dotted, IPv6 compressed without brackets, no dot at the end. */
  readonly host: string;
  readonly port: number;
}

/** A name with one of these is not a name; what is read as a name here must not be read as something else elsewhere. */
const neverInHosts = /[\s\\/?#@%<>^|\p{Cc}]/u;

/** `host:port` as a program or a configuration writes it. Undefined for what is none, or could be read in two ways. */
export function parseTarget(text: string, defaultPort?: number): Target | undefined {
  const [, name = "", digits] = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/iu.exec(text) ?? [];
  const port = digits === undefined ? defaultPort : Number(digits);
  if (name === "" || port === undefined || port < 1 || port > 65_535 || neverInHosts.test(name)) return undefined;
  const host = hostOf(name);
  return host === undefined ? undefined : { host, port };
}

function hostOf(name: string): string | undefined {
  // The parser that fetch uses: odd spellings of IPv4, full-width digits and IDN come out in their one form.
  const url = URL.parse(`http://${name}/`);
  if (url === null || url.username !== "" || url.password !== "" || url.port !== "") return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const isEmptySomewhere = host.split(".").some((label) => label.length === 0 || label.length > 63);
  return host.includes(":") || (host.length <= 253 && !isEmptySomewhere && !host.includes("*")) ? host : undefined;
}

/** `host:port` for people, brackets around IPv6. */
export function writeTarget({ host, port }: Target): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
