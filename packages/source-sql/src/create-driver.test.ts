import { describe, expect, test } from "vitest";
import { CallgateError } from "@callgate/contract";
import { createDriver } from "./create-driver.ts";

const driverOf = (url: string) => createDriver({ url, namespace: "shop", connectTimeoutMs: 1_000, maxPageBytes: 1_000 });

describe("the driver of a place", () => {
  test.each([
    ["postgres://me:p%40ss-word@db.internal:5433/shop", 'PostgreSQL "shop" on db.internal'],
    ["postgresql://me:p%40ss-word@/shop?host=/run/postgresql", 'PostgreSQL "shop" on /run/postgresql'],
    ["mysql://me:p%40ss-word@[::1]:3307/shop", 'MySQL "shop" on ::1'],
    ["mariadb://me:p%40ss-word@localhost/shop?socketPath=/run/mysqld/mysqld.sock&sslmode=disable", 'MySQL "shop" on /run/mysqld/mysqld.sock'],
  ])("%s is told without its user, and its password is known as a secret", (url, label) => {
    expect([driverOf(url).label, driverOf(url).secrets]).toEqual([label, ["p@ss-word"]]);
  });

  test.each(["oracle://me:very-secret-word@db/x", "db/x:very-secret-word", "mysql://me:very-secret-word@db:notaport/x", "mysql://me:very-secret-word@db/x?sslmode=perhaps", "mysql://me:very-secret-word@db/x?sslmode=verify-ca&sslrootcert=/nowhere.pem", "mysql://me:very-secret-word%@db/x"])("%s is refused in words without the password", (url) => {
    const failure = ((): unknown => {
      try {
        return driverOf(url);
      } catch (error) {
        return error;
      }
    })();
    expect(CallgateError.is(failure) && failure.code).toBe("CONFIG_INVALID");
    expect(String((failure as Error).message)).not.toContain("very-secret-word");
  });
});
