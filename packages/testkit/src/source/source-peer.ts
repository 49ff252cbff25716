import type { Source } from "@callgate/contract";

/** A call of a tool that the peer has. */
export interface SampleCall {
  readonly name: string;
  readonly args: unknown;
}

/** A source to be tested, alone in front of a peer of its own. */
export interface SourcePeer {
  readonly source: Source;
  /** Names of all tools that can be used, as the source lists them. */
  readonly tools: readonly string[];
  /** Names in the source's problems: tools that the peer has and nobody could call. Default: none. */
  readonly malformed?: readonly string[];
  /** A call that is answered at once, and the answer. */
  readonly answered: SampleCall & { readonly answer: unknown };
  /** A call that the tool itself refuses, and the code of its error. */
  readonly refused: SampleCall & { readonly code: string };
  /** A call that gets no answer. */
  readonly unanswered: SampleCall;
  /** Texts that must be in no state, problem or error: secrets of the configuration. Default: none. */
  readonly secrets?: readonly string[];
  /** What can happen to a peer that lives apart from the source. Absent: there is none, as with functions. */
  readonly fate?: {
    /** Makes it unreachable, also for calls under way. */
    goAway(): Promise<void>;
    comeBack(): Promise<void>;
    /** Changes its list of tools and says so, where it can say it. */
    changeTools?(): Promise<void>;
  };
  /** Ends the peer. The source is closed before. */
  dispose(): Promise<void>;
}

export interface SourceSuiteOptions {
  /** How long something that a source does by itself may take. Default 15,000. */
  readonly patienceMs?: number;
}
