import type { DetectorSwitches } from "./redactor.ts";
import type { Effect, Label } from "./tool-spec.ts";

/**
 * What the user says of a source, whatever its kind: which of its tools there are, what they are called, what they do.
 *
 * Tools are named as the source names them, or by the identifier that the name becomes; `*` in a name stands for any
 * characters: `get_*`. `tag:NAME` means all tools of a tag. Where several names of one setting match a tool, the later one wins, and the whole name over one
 * with a star. A name that matches no tool is told among the problems of the source.
 */
export interface SourceOptions {
  /** One line for the model on what is behind the source. Default: the source's own. */
  readonly purpose?: string;
  /** Only these tools exist. An empty list: none. Default: all. */
  readonly allow?: readonly string[];
  /** These tools do not exist, allowed or not. */
  readonly deny?: readonly string[];
  /** Other names for tools, by whole names. Everything else here, `allow` and `deny` too, goes by the source's own names. */
  readonly rename?: Readonly<Record<string, string>>;
  /** What a tool really does. It beats every claim. */
  readonly effects?: Readonly<Record<string, Effect>>;
  /** What comes with the answers, beside what the tools say themselves. Those of `*` hold for resources and prompts too. */
  readonly labels?: Readonly<Record<string, readonly Label[]>>;
  /** Where arguments and answers are sensitive, as in `ToolSpec.sensitive`, beside what the tools say themselves. */
  readonly sensitive?: Readonly<Record<string, readonly string[]>>;
  /** Detectors that are switched, as in `ToolSpec.detect`. They beat the tool's own. */
  readonly detect?: Readonly<Record<string, Readonly<Record<string, DetectorSwitches>>>>;
  /** Believes what the source says of its tools. Default false: a tool that it says only reads counts as `write`. */
  readonly trusted?: boolean;
}

/** What the user says of one tool. Nothing of it is part of the tool's definition: pins and approvals stay as they are. */
export interface ToolSettings {
  readonly effect?: Effect;
  readonly labels?: readonly Label[];
  readonly sensitive?: readonly string[];
  readonly detect?: Readonly<Record<string, DetectorSwitches>>;
}
