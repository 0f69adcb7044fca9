import { type FunctionSpan, findFunctions } from './functions.ts';
import { readTokens } from './lex.ts';
import type { Syntax } from './syntaxes.ts';
import { dropTables } from './tables.ts';
import type { Tokens } from './tokens.ts';

/** A text prepared for the comparison. */
export interface Code {
  text: string;
  tokens: Tokens;
  functions: readonly FunctionSpan[];
}

/** Reads code without the parts that are not compared: comments, imports, data. */
export function readCode(text: string, syntax: Syntax): Code {
  const tokens = dropTables(readTokens(text, syntax));
  return { text, tokens, functions: findFunctions(tokens, text, syntax) };
}
