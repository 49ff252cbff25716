import { createRequire } from "node:module";
import type { parsePhoneNumber } from "awesome-phonenumber";
import type isCreditCardOf from "validator/lib/isCreditCard.js";
import type isEmailOf from "validator/lib/isEmail.js";
import type isIbanOf from "validator/lib/isIBAN.js";

/** What is asked for here is loaded when a text first holds a candidate: most processes never meet one, and numbering plans take a while. */
const require = createRequire(import.meta.url);

export const isCreditCard = () => (require("validator/lib/isCreditCard.js") as typeof isCreditCardOf).default;
export const isEmail = () => (require("validator/lib/isEmail.js") as typeof isEmailOf).default;
export const isIban = () => (require("validator/lib/isIBAN.js") as typeof isIbanOf).default;
export const phoneParser = () => (require("awesome-phonenumber") as { readonly parsePhoneNumber: typeof parsePhoneNumber }).parsePhoneNumber;
