/** A kind of task that somebody has worked out before: when it is one, which tools it takes, and the program it begins with. */
export interface TaskTemplate {
  /** Lower case letters, digits and `-`. */
  readonly name: string;
  /** When to take it, in one sentence. */
  readonly when: string;
  /** Qualified names. Who may not call all of them does not see it. */
  readonly tools: readonly string[];
  /** What has to be known first, by name, each with a description. `{{name}}` stands for it in skeleton and text. */
  readonly inputs: Readonly<Record<string, string>>;
  /** Program text to begin with. */
  readonly skeleton: string;
  /** What else there is to know. May be empty. */
  readonly text: string;
}
