from tools import market
import pandas as pd
import matplotlib.pyplot as plt

rows = []
figure, axes = plt.subplots(figsize=(8, 4))
for symbol in market.symbols():
    frame = pd.DataFrame(market.closing_prices(symbol=symbol)).set_index("day")
    for days in (10, 50):
        frame[f"mean{days}"] = frame["close"].rolling(days).mean()
    crossings = int(((frame["mean10"] > frame["mean50"]).astype(int).diff() == 1).sum())
    rows.append((symbol, float(frame["close"].iloc[-1]), float(frame["mean50"].iloc[-1]), crossings))
    axes.plot(frame["mean50"].to_numpy(), label=symbol)

axes.set_title("Means of 50 days")
axes.legend()
figure.savefig("means.png")
plt.close(figure)
with open("report.md", "w") as report:
    report.write("# Shares\n\n| share | last close | mean of 50 days | crossings upwards |\n| --- | --- | --- | --- |\n")
    for symbol, last, mean50, crossings in rows:
        report.write(f"| {symbol} | {last:.2f} | {mean50:.4f} | {crossings} |\n")
{"shares": len(rows), "crossings": sum(row[3] for row in rows)}
