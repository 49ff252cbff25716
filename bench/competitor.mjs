// One competitor in a process of its own, so that one that hangs or dies does not take the others with it. Started by
// side-by-side.mjs with the competitor's name; measures the scenarios it is sent.
import { competitors } from "./competitors.mjs";
import { scenarios } from "./scenarios.mjs";

const competitor = await competitors[process.argv[2]]().catch((error) => ({ missing: error instanceof Error ? error.message.split("\n")[0] : String(error) }));
process.send({ ready: true, ...(competitor.missing === undefined ? {} : { missing: competitor.missing }) });
process.on("message", (name) => {
  scenarios[name].measure(competitor).then(
    (value) => process.send({ value }),
    (error) => process.send({ failed: error instanceof Error ? error.message.split("\n")[0].slice(0, 80) : String(error) }),
  );
});
