import type { Finder, Found } from "./found.ts";

/** Shorter ones turn up by chance, or say nothing. */
const minSecretChars = 8;

/**
 * Tokens as their issuers document them: a prefix nobody else writes, and enough after it. Each is linear: no part that
 * repeats is followed by one that could match the same characters.
 */
const tokenShapes: readonly RegExp[] = [
  /(?:AKIA|ASIA)[A-Z2-7]{16}/, // AWS access key
  /gh[opsur]_[A-Za-z0-9]{20,255}/, // GitHub
  /github_pat_[A-Za-z0-9_]{20,255}/,
  /gl(?:pat|dt|rt|ptt|oas|ft|soat|cbt)-[\w-]{20,255}/, // GitLab
  /xox[abeoprs]-[\w-]{10,255}/, // Slack
  /xapp-\d-[\w-]{10,255}/,
  /(?:[prs]k_(?:live|test)|whsec|rk_live)_[A-Za-z0-9]{16,255}/, // Stripe
  /sk-[A-Za-z0-9][\w-]{18,255}/, // OpenAI, Anthropic and others
  /AIza[\w-]{35}/, // Google
  /ya29\.[\w-]{20,1024}/,
  /GOCSPX-[\w-]{20,64}/,
  /npm_[A-Za-z0-9]{36}/,
  /pypi-AgE[\w-]{50,255}/,
  /SG\.[\w-]{16,32}\.[\w-]{16,64}/, // SendGrid
  /shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/, // Shopify
  /do[opr]_v1_[0-9a-f]{64}/, // DigitalOcean
  /hf_[A-Za-z0-9]{30,64}/, // Hugging Face
  /dapi[0-9a-f]{32}/, // Databricks
  /lin_api_[A-Za-z0-9]{30,64}/, // Linear
  /hv[bs]\.[\w-]{20,255}/, // HashiCorp Vault
  /sq0(?:atp|csp)-[\w-]{20,64}/, // Square
  /AGE-SECRET-KEY-1[A-Z0-9]{50,64}/,
  /\d{8,10}:AA[\w-]{33}/, // Telegram
  /eyJ[\w-]{10,4096}\.[\w-]{2,65536}(?:\.[\w-]{0,4096})?/, // JWT
];

const tokens = new RegExp(`(?<![A-Za-z0-9_])(?:${tokenShapes.map(({ source }) => source).join("|")})`, "g");

/** To its end, or to that of the text: a text that was cut must not show the rest of it. */
const privateKey = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END)[\s\S])*(?:-----END [A-Z0-9 ]{0,40}-----)?/g;

/** Quotes, also as they stand in JSON inside of JSON. */
const quote = String.raw`(?:\\{0,3}["'])`;

/** From a name of a secret to its value: as in headers, in `a=b`, in JSON and in what a program prints of an object. */
const gives = String.raw`${quote}?\s{0,4}[:=]\s{0,4}${quote}?`;
const assigns = String.raw`(?:=${quote}?|${quote}\s{0,4}:\s{0,4}${quote}?|\s{0,4}:\s{0,4}${quote})`;

/** In these the first group is the secret. */
const assigned: readonly RegExp[] = [
  /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"'?#]{0,128}:([^\s/@"']{1,256})@/gdi,
  // A word of prose has neither a digit nor a sign nor a capital inside.
  /\b(?:[Bb]earer|BEARER|[Bb]asic|BASIC|[Tt]oken)\s{1,4}["']?((?=[A-Za-z]{0,256}(?:[\d._~+/=-]|[a-z][A-Z]))[A-Za-z0-9._~+/=-]{8,8192})/gd,
  new RegExp(String.raw`authorization${gives}([^\s"'\\,;]{8,8192})(?=["'\\\r\n]|$)`, "gdi"),
  new RegExp(String.raw`(?:cookie|cookie2)${gives}([^\s=;"'\\]{1,128}=[^\r\n"'\\]{1,4096})`, "gdi"),
  new RegExp(String.raw`x-(?:api-key|auth-token|amz-security-token)${gives}([^\s"'\\,;]{8,4096})`, "gdi"),
  new RegExp(String.raw`(?:passw(?:or)?d|passphrase|secret|api[_-]?key|access[_-]?key|account[_-]?key|(?:access|refresh|auth|id|session)[_-]?token|private[_-]?key|;\s{0,2}pwd)${assigns}([^\s"'\\&;,]{4,4096})`, "gdi"),
  /[&?](?:token|sig|signature|x-amz-signature|x-amz-security-token)=([^&\s"'\\#]{8,4096})/gdi,
];

/** Without one of these none of them finds anything. */
const named = /:\/\/|bearer|basic|token|authorization|cookie|x-api-key|passw|passphrase|secret|key|pwd|sig(?:nature)?=/i;

/** Names under which nothing but a secret stands, without case and separators. */
const secretNames: ReadonlySet<string> = new Set(
  "authorization proxyauthorization cookie setcookie xapikey xauthtoken apikey password passwd passphrase clientsecret secretkey secretaccesskey privatekey accesstoken refreshtoken idtoken sessiontoken authtoken accountkey connectionstring".split(" "),
);

const longestName = 24;

/** Whether what stands under this name of an object is secret, such as `Authorization` of headers. */
export function isSecretName(name: string): boolean {
  return name.length <= longestName && secretNames.has(name.replace(/[\s_-]/g, "").toLowerCase());
}

/** Keys and tokens of well-known shapes, private keys, passwords in URLs and after names of secrets. */
export const findSecrets: Finder = (text) => {
  if (text.length < minSecretChars) return [];
  const found: Found[] = [];
  const add = (start: number, value: string): void => void found.push({ kind: "secret", start, end: start + value.length, value });
  for (const match of text.matchAll(tokens)) add(match.index, match[0]);
  if (text.includes("-----BEGIN")) for (const match of text.matchAll(privateKey)) add(match.index, match[0]);
  if (!named.test(text)) return found;
  for (const pattern of assigned) {
    for (const match of text.matchAll(pattern)) {
      const at = match.indices?.[1];
      // What was hidden before is not hidden again.
      if (at !== undefined && !text.startsWith("[secret", at[0])) add(at[0], text.slice(...at));
    }
  }
  return found;
};
