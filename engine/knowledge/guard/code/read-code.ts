import { type FunctionSpan, findFunctions } from './functions.ts';
import { readTokens, type Tokens } from './lex.ts';
import type { Syntax } from './syntaxes.ts';
import { dropTables } from './tables.ts';

/** A text as the comparison sees it. */
export interface Code {
  text: string;
  tokens: Tokens;
  functions: readonly FunctionSpan[];
}

/** Reads code without what is not compared: comments, imports, data. */
export function readCode(text: string, syntax: Syntax): Code {
  const tokens = dropTables(readTokens(text, syntax));
  return { text, tokens, functions: findFunctions(tokens, text, syntax) };
}

/** How much of the beginning of a file is looked at for words of a generator. */
const HEAD = 2000;
const GENERATED =
  /@generated\b|\bcode generated\b.{0,80}\bdo not edit\b|\b(?:auto-?generated|generated (?:automatically|by|from|file))\b/i;
/** Characters per line, on average, of what no person has written. */
const LONGEST_MEAN_LINE = 300;

/** Whether a program has written a text: by its own words, or by its lines. */
export function isGenerated(text: string): boolean {
  const head = text.slice(0, HEAD);
  if (GENERATED.test(head)) return true;
  let breaks = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) breaks += 1;
  return text.length / breaks > LONGEST_MEAN_LINE;
}
