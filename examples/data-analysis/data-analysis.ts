// Data analysis: a tool gives prices, Python works out moving averages with pandas, draws them, and writes a report. The
// prices go from the tool to the program; what comes back is a number, a picture and the report.
import assert from "node:assert/strict";
import { createCodeExecutor, defineTool } from "callgate";
import { z } from "zod";

/** A year of closing prices that rise slowly and swing: the same every time. */
const closing = Array.from({ length: 250 }, (_, day) => ({ day: new Date(Date.UTC(2026, 0, 2 + day)).toISOString().slice(0, 10), close: Math.round((100 + day * 0.2 + 8 * Math.sin(day / 9)) * 100) / 100 }));

const prices = defineTool({
  name: "closing_prices",
  description: "Closing prices of a share, oldest first",
  effect: "read",
  input: z.object({ symbol: z.string() }),
  output: z.array(z.object({ day: z.string(), close: z.number() })),
  handler: () => closing,
});

const analysis = `
from tools import market
import pandas as pd
import matplotlib.pyplot as plt

frame = pd.DataFrame(market.closing_prices(symbol="NWD")).set_index("day")
for days in (10, 50):
    frame[f"mean{days}"] = frame["close"].rolling(days).mean()
crossings = int(((frame["mean10"] > frame["mean50"]).astype(int).diff() == 1).sum())

frame.plot(figsize=(8, 4), title="NWD, closing prices and moving averages")
last = frame.iloc[-1]
with open("out/report.md", "w") as report:
    report.write(f"# NWD\\n\\nLast close {last['close']:.2f}, mean of 10 days {last['mean10']:.2f}, of 50 days {last['mean50']:.2f}.\\n")
    report.write(f"The short mean crossed the long one upwards {crossings} times.\\n")
print(frame.tail(2).round(2).to_string())
{"rows": len(frame), "crossings": crossings, "mean50": round(float(last["mean50"]), 4)}
`;

await using executor = await createCodeExecutor({ tools: { market: [prices] }, python: { modules: ["pandas", "matplotlib"] }, limits: { memoryMiB: 768 }, timeoutMs: 120_000 });
const probe = await executor.execute([{ language: "python", code: "import pandas, matplotlib" }]);
if (probe.exitCode !== 0) console.log(`skipped: needs bubblewrap and Debian's python3-pandas and python3-matplotlib (${probe.blocks[0]?.error?.message ?? "no reason"})`);
else {
  const result = await executor.execute([{ language: "python", code: analysis }]);
  assert.equal(result.exitCode, 0, result.text);
  const expected = closing.slice(-50).reduce((sum, { close }) => sum + close, 0) / 50;
  const value = result.value?.kind === "whole" ? (result.value.value as { readonly rows: number; readonly crossings: number; readonly mean50: number }) : undefined;
  assert.equal(value?.rows, 250);
  assert.ok(Math.abs((value?.mean50 ?? 0) - expected) < 0.001, "the mean is the one worked out here");
  const files = await Promise.all(result.artifacts.map(async ({ handle, name, mimeType }) => ({ name, mimeType, read: await executor.gate.read(handle) })));
  const bytesOf = (name: string): Buffer => {
    const read = files.find((file) => file.name === name)?.read;
    return Buffer.from(read?.kind === "artifact" ? read.bytes : []);
  };
  assert.equal(bytesOf("figure-1.png").subarray(1, 4).toString(), "PNG", "the figure came back as a picture, without being asked for");
  assert.match(bytesOf("report.md").toString(), /^# NWD\n\nLast close \d+\.\d\d/);
  console.log(result.stdout);
  console.log(`${files.map(({ name, mimeType }) => `${name} (${mimeType})`).join(", ")}; ${value?.crossings ?? 0} crossings`);
}
