import { DatabaseSync } from "node:sqlite";

export const regions = ["North", "South", "East", "West"] as const;

/** A quarter of orders, the same every time: thirteen weeks that grow slowly, and one region that does not. */
export function createSales(file: string, ordersPerWeek: number): void {
  const database = new DatabaseSync(file);
  database.exec("CREATE TABLE orders (id INTEGER PRIMARY KEY, week INTEGER NOT NULL, region TEXT NOT NULL, cents INTEGER NOT NULL, state TEXT NOT NULL); BEGIN");
  const insert = database.prepare("INSERT INTO orders (week, region, cents, state) VALUES (?, ?, ?, ?)");
  for (let week = 36; week <= 48; week++) {
    for (let index = 0; index < ordersPerWeek; index++) {
      const region = regions[index % regions.length] ?? "North";
      const growth = region === "West" ? -25 * (week - 36) : 40 * (week - 36);
      insert.run(week, region, 2_000 + ((index * 7_919 + week * 104_729) % 9_000) + growth, index % 23 === 0 ? "returned" : "paid");
    }
  }
  database.exec("COMMIT");
  database.close();
}
