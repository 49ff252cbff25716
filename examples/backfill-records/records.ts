/** One customer as it really is, and where the three systems know it otherwise. */
export interface Truth {
  readonly id: number;
  readonly name: string;
  readonly country: string;
  readonly email: string;
  readonly vatId: string;
  readonly crmEmail: string | null;
  readonly billingEmail: string | null;
  readonly crmVatId: string | null;
  readonly registerVatId: string;
  readonly isRevoked: boolean;
}

export const countries = ["AT", "DE", "FR", "NL", "PL"] as const;

/** The same records every time: some fields are missing in one system, a few contradict each other, a few numbers are revoked. */
export function truths(count: number): readonly Truth[] {
  return Array.from({ length: count }, (_unused, index) => {
    const country = countries[index % countries.length] ?? "AT";
    const email = `office@customer-${index}.example`;
    const vatId = `${country}${String(10_000_000 + index * 37)}`;
    return {
      id: index + 1,
      name: `Customer ${index + 1}`,
      country,
      email,
      vatId,
      crmEmail: index % 50 === 7 ? null : email,
      billingEmail: index % 80 === 11 ? null : index % 400 === 100 ? `old-${email}` : email,
      crmVatId: index % 100 === 33 ? null : vatId,
      registerVatId: index % 500 === 250 ? `${country}99999999` : vatId,
      isRevoked: index % 500 === 33,
    };
  });
}
