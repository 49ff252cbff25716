/** What the page of a report looks like. */
export const pageStyle = `
body { font: 14px/1.4 system-ui, sans-serif; margin: 2rem; color: #222; }
h1 { margin-bottom: 0; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #ddd; font-variant-numeric: tabular-nums; }
tbody th, .cases td, .cases th, .why { text-align: left; }
thead th { color: #666; font-weight: normal; }
.passed { color: #1a7f37; } .failed, .error, .refused { color: #c62828; } .flaky { color: #b26a00; } .skipped { color: #666; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(380px, 1fr)); gap: 2rem; max-width: 1500px; }
`;

/** Draws the charts of the page from `data`; runs in a browser. */
export const pageScript = `
const green = "#1a7f37", pale = "rgba(26, 127, 55, .25)", blue = "#3367d6";
const options = (title, y) => ({ animation: false, plugins: { title: { display: true, text: title }, legend: { display: false } }, scales: { y: { beginAtZero: true, ...y } } });
new Chart("rates", {
  data: {
    labels: data.groups.map(({ name }) => name),
    datasets: [
      { type: "bar", label: "95 % interval", data: data.groups.map(({ low, high }) => [low * 100, high * 100]), backgroundColor: pale, grouped: false, barPercentage: 0.9 },
      { type: "line", label: "pass rate", data: data.groups.map(({ rate }) => rate * 100), borderColor: green, backgroundColor: green, showLine: false, pointRadius: 5 },
    ],
  },
  options: options("Pass rate and its interval, %", { max: 100 }),
});
new Chart("tokens", {
  type: "bar",
  data: { labels: data.cases.map(({ id }) => id), datasets: [{ label: "tokens", data: data.cases.map(({ tokens }) => tokens), backgroundColor: blue }] },
  options: options("Tokens of an attempt, by case"),
});
const sorted = [...data.walls].sort((a, b) => a - b);
new Chart("latency", {
  type: "line",
  data: { labels: sorted.map((_, index) => Math.round(((index + 1) / sorted.length) * 100)), datasets: [{ label: "ms", data: sorted, borderColor: blue, pointRadius: 0, stepped: true }] },
  options: options("Latency of an attempt, ms, by share of attempts, %"),
});
`;
