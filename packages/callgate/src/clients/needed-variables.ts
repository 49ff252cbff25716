/** A variable of the environment that a configuration refers to, for the person who has to set it. */
export interface NeededVariable {
  readonly name: string;
  /** Why: what it is, and where its value is now. Never the value. */
  readonly why: string;
  /** Whether it is set, and to that value where one is known. */
  readonly isSet: boolean;
}

/** Gives names to values that must not be written down. */
export interface VariableNames {
  /**
   * The name for a value: `preferred` where that is free or stands for the same value, else one with `owner` before it.
   *
   * @param value undefined where it is not known
   */
  nameFor(wanted: { readonly preferred: string; readonly owner: string; readonly value: string | undefined; readonly why: string }): string;
  /** A variable that is referred to already, under a name that cannot be chosen. Before any literal that may want it. */
  refer(name: string, why: string): void;
  list(): readonly NeededVariable[];
  /** The values that names stand for, where they are known: to try something out, never to be shown or written. */
  values(): Readonly<Record<string, string>>;
}

export function createVariableNames(env: Readonly<Record<string, string | undefined>>): VariableNames {
  const given = new Map<string, { readonly value: string | undefined; readonly why: string }>();
  /** One name for two values would give one server the key of another; one that this shell uses for something else likewise. */
  const isFree = (name: string, value: string | undefined): boolean => {
    const taken = given.get(name);
    if (taken !== undefined) return taken.value === value;
    return value === undefined || env[name] === undefined || env[name] === value;
  };
  return {
    nameFor({ preferred, owner, value, why }) {
      const first = variableName(preferred);
      const candidates = [first, `${variableName(owner)}_${first}`];
      let name = candidates.find((candidate) => isFree(candidate, value));
      for (let count = 2; name === undefined; count++) {
        const next = `${candidates[1]}_${count}`;
        if (isFree(next, value)) name = next;
      }
      if (!given.has(name)) given.set(name, { value, why });
      return name;
    },
    refer(name, why) {
      if (!given.has(name)) given.set(name, { value: env[name], why });
    },
    values: () => Object.fromEntries([...given].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value]]))),
    list: () => [...given].map(([name, { value, why }]) => ({ name, why, isSet: env[name] !== undefined && (value === undefined || env[name] === value) })),
  };
}

/** `github-api key` → `GITHUB_API_KEY`. */
function variableName(text: string): string {
  const spelled = text.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_+|_+$/g, "").toUpperCase();
  return /^[A-Z]/.test(spelled) ? spelled : `VALUE_${spelled}`.replace(/_$/, "");
}
