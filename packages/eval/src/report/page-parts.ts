/** What the page of a report looks like, by day and by night, wide and narrow. */
export const pageStyle = `
:root { color-scheme: light dark; --text: #222; --dim: #666; --line: #ddd; --back: #fff; --good: #1a7f37; --bad: #c62828; --odd: #b26a00; --mark: #3367d6; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e4e4; --dim: #9a9a9a; --line: #3a3a3a; --back: #161618; --good: #4cc26b; --bad: #ff7b72; --odd: #e0a23b; --mark: #8ab0ff; } }
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; padding: 0 1.5rem; max-width: 90rem; color: var(--text); background: var(--back); }
h1 { margin: 0; font-size: 1.6rem; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 .5rem; font-size: 1.1rem; }
p { margin: .2rem 0 1rem; color: var(--dim); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; white-space: nowrap; }
tr > :first-child { padding-left: 0; }
tbody th, .cases th, .cases td { text-align: left; font-weight: normal; }
tbody tr:first-child th, .groups tbody tr:first-child td { font-weight: 600; }
.cases tbody th, .cases tbody tr:first-child th { font-weight: normal; }
.cases .title, .cases .why { white-space: normal; overflow-wrap: anywhere; min-width: 14rem; }
.cases .title { color: var(--dim); }
thead th { color: var(--dim); font-weight: normal; vertical-align: bottom; }
.passed { color: var(--good); } .failed, .error, .refused { color: var(--bad); } .flaky { color: var(--odd); } .skipped { color: var(--dim); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: 2rem; margin: 2rem 0; }
.charts > div { position: relative; height: 19rem; min-width: 0; }
@media (max-width: 40rem) { body { margin: 1rem auto; padding: 0 .8rem; } th, td { padding: .2rem .5rem; } }
`;

/** Draws the charts of the page from `data`, in the colours of its style; runs in a browser. */
export const pageScript = `
const night = matchMedia("(prefers-color-scheme: dark)");
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const options = (title, y, x) => ({ animation: false, maintainAspectRatio: false, plugins: { title: { display: true, text: title }, legend: { display: false } }, scales: { x: { grid: { display: false }, ...x }, y: { beginAtZero: true, ...y } } });
const sorted = [...data.walls].sort((a, b) => a - b);
let charts = [];
function draw() {
  for (const chart of charts) chart.destroy();
  Chart.defaults.color = colour("dim");
  Chart.defaults.borderColor = colour("line");
  const good = colour("good"), mark = colour("mark");
  charts = [
    new Chart("rates", {
      data: {
        labels: data.groups.map(({ name }) => name),
        datasets: [
          { type: "line", label: "pass rate", data: data.groups.map(({ rate }) => rate * 100), borderColor: good, backgroundColor: good, showLine: false, pointRadius: 5 },
          { type: "bar", label: "95 % interval", data: data.groups.map(({ low, high }) => [low * 100, high * 100]), backgroundColor: good + "40", grouped: false, barPercentage: 0.7 },
        ],
      },
      options: options("Pass rate and its interval, %", { max: 100 }),
    }),
    new Chart("tokens", {
      type: "bar",
      data: { labels: data.cases.map(({ id }) => id), datasets: [{ label: "tokens", data: data.cases.map(({ tokens }) => tokens), backgroundColor: mark }] },
      options: options("Tokens of an attempt, by case", {}, { ticks: { display: data.cases.length <= 30 } }),
    }),
    new Chart("latency", {
      type: "line",
      data: { labels: sorted.map((_, index) => Math.round(((index + 1) / sorted.length) * 100)), datasets: [{ label: "ms", data: sorted, borderColor: mark, pointRadius: sorted.length === 1 ? 3 : 0, stepped: true }] },
      options: options("Latency of an attempt, ms, by share of attempts, %"),
    }),
  ];
}
draw();
night.addEventListener("change", draw);
`;
