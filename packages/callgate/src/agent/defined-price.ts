import type { ModelPrice } from "@callgate/agent";
import type { AgentConfig } from "../config/agent-schema.ts";

/** The price as an agent takes it: what is not said is not there. */
export function definedPrice({ inputMicroUsdPerMTok, cachedMicroUsdPerMTok, outputMicroUsdPerMTok }: NonNullable<AgentConfig["price"]>): ModelPrice {
  return { inputMicroUsdPerMTok, outputMicroUsdPerMTok, ...(cachedMicroUsdPerMTok === undefined ? {} : { cachedMicroUsdPerMTok }) };
}
