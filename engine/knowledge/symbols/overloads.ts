import type { SourceLanguage } from '../sources/index.ts';
import { MANY_ARGUMENTS, type SymbolFact } from './facts.ts';

/** Languages in which functions of one name differ by their parameters. */
export const HAS_OVERLOADS: ReadonlySet<SourceLanguage> = new Set([
  'java',
  'csharp',
  'kotlin',
  'cpp',
  'swift',
]);

const OPENS = '([{<';
const CLOSES = ')]}>';

/** Splits the text of a list at its commas; those within brackets and quotes do not count. */
export function splitList(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = '';
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]!;
    if (quote !== '') {
      if (letter === '\\') at += 1;
      else if (letter === quote) quote = '';
    } else if (letter === '"' || letter === "'") quote = letter;
    else if (OPENS.includes(letter)) depth += 1;
    // An arrow is not a bracket.
    else if (CLOSES.includes(letter) && !(letter === '>' && /[-=]/.test(text[at - 1] ?? ''))) depth -= 1;
    else if (letter === ',' && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

const USUAL_VALUE = /(?:^|[^=<>!])=(?![=>])/;
const MANY = /\.\.\.|^(?:[\w@]+\s+)*(?:params|vararg)\s/;

/** Returns the least and the most arguments of a function by the text of its parameters, without their brackets. */
export function countArguments(text: string): [least: number, most: number] {
  return readRange(splitList(text));
}

/** Returns the least and the most arguments of a function by its parameters as written. */
export function readRange(params: readonly string[]): [least: number, most: number] {
  if (params.length === 1 && params[0] === 'void') return [0, 0];
  const least = params.filter((param) => !MANY.test(param) && !USUAL_VALUE.test(param)).length;
  return [least, params.some((param) => MANY.test(param)) ? MANY_ARGUMENTS : params.length];
}

/** Reports whether a function takes that number of arguments. */
export function takesArguments({ arity, params }: SymbolFact, given: number): boolean {
  const [least, most] = arity ?? [params?.length ?? 0, params?.length ?? MANY_ARGUMENTS];
  return given >= least && given <= most;
}

/** Returns the parameters in a signature as written; null if it has none, or is cut. */
export function listParameters(signature: string, name: string): string[] | null {
  const open = signature.indexOf('(', Math.max(0, signature.lastIndexOf(`${name}(`)));
  if (open < 0) return null;
  let depth = 0;
  for (let at = open; at < signature.length; at += 1) {
    if (signature[at] === '(') depth += 1;
    else if (signature[at] === ')') depth -= 1;
    if (depth === 0) return splitList(signature.slice(open + 1, at));
  }
  return null;
}
