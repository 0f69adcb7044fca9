import { type FunctionSpan, findFunctions } from './functions.ts';
import { readTokens } from './lex.ts';
import type { CodeSyntax } from './syntaxes.ts';
import { dropTables } from './tables.ts';
import type { CodeTokens } from './tokens.ts';

/** A text prepared for the comparison. */
export interface PreparedCode {
  text: string;
  tokens: CodeTokens;
  functions: readonly FunctionSpan[];
}

/** Reads code without the parts that are not compared: comments, imports, data. */
export function readCode(text: string, syntax: CodeSyntax): PreparedCode {
  const tokens = dropTables(readTokens(text, syntax));
  return { text, tokens, functions: findFunctions(tokens, text, syntax) };
}
