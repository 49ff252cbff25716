import { stemmer } from "stemmer";

/**
 * Words of everyday English that those who name tools and those who ask for one use for the same thing: verbs of doing
 * something to a record, and the few nouns that most services have.
 */
const groups: readonly string[] = [
  "get fetch retrieve read show view display obtain return",
  "list enumerate browse",
  "create add make new insert generate build",
  "delete remove erase drop destroy",
  "update edit modify change set alter adjust",
  "search find query lookup locate seek",
  "send post submit publish",
  "copy duplicate clone",
  "move rename transfer",
  "start launch begin run execute",
  "stop halt end cancel terminate pause",
  "calculate compute determine evaluate",
  "convert transform translate",
  "check verify validate",
  "buy purchase order",
  "book reserve",
  "save store write",
  "open load",
  "merge combine join",
  "count number",
  "describe detail information",
  "recommend suggest",
  "similar related",
  "picture image photo",
  "mail email message",
  "folder directory",
  "document file",
  "person people",
  "cost price",
];

const byStem = new Map<string, ReadonlySet<string>>();
for (const group of groups) {
  const stems = group.split(" ").map((word) => stemmer(word));
  for (const stem of stems) byStem.set(stem, new Set([...(byStem.get(stem) ?? []), ...stems.filter((other) => other !== stem)]));
}

/** Stems of other words for what a stem means; most have none. */
export function synonymsOf(stem: string): Iterable<string> {
  return byStem.get(stem) ?? [];
}
