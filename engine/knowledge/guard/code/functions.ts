import type { CodeSyntax } from './syntaxes.ts';
import { type CodeTokens, KEYWORD, MARK, NAME, NUMBER, STRING } from './tokens.ts';

/** A function of a file, as a range of its tokens. */
export interface FunctionSpan {
  name: string;
  /** Its first token, and the token after its last. */
  from: number;
  to: number;
}

const OPEN = 123;
const CLOSE = 125;
const OPEN_PAREN = 40;
const CLOSE_PAREN = 41;
/** Maximum number of tokens between the parameters of a function and its body: return and throws types. */
const LONGEST_HEAD = 40;

const NOT_IN_HEAD = new Set(['(', '{', '}', '+', '/', '%', '^', '!', 'return']);

/** Keywords required for a function in languages where conditions have no parentheses to recognise a block by. */
const NEEDED_WORDS = new Set(['fn', 'func', 'fun']);
/** Maximum distance from such a keyword to the body. */
const LONGEST_DECLARATION = 200;

/** Keywords that come before parentheses and a block without forming a function. */
const CONTROL = new Set([
  'if',
  'for',
  'while',
  'switch',
  'catch',
  'match',
  'with',
  'using',
  'lock',
  'foreach',
]);

/** Returns the functions of a file, inner ones included, by their start. */
export function findFunctions(tokens: CodeTokens, text: string, syntax: CodeSyntax): FunctionSpan[] {
  const found =
    syntax.blocks === 'indent' ? findIndented(tokens, text, syntax) : findBraced(tokens, text, syntax);
  return found.sort((one, other) => one.from - other.from || other.to - one.to);
}

function findIndented(tokens: CodeTokens, text: string, { functionWords }: CodeSyntax): FunctionSpan[] {
  const { count, starts, ends, lines } = tokens;
  const found: FunctionSpan[] = [];
  const open: { name: string; from: number; indent: number }[] = [];
  const closeFunctions = (indent: number, at: number): void => {
    while (open.length > 0 && (open.at(-1)?.indent ?? -1) >= indent) {
      const { name, from } = open.pop() as (typeof open)[number];
      found.push({ name, from, to: at });
    }
  };
  for (let at = 0; at < count; at += 1) {
    const isFirst = at === 0 || lines[at] !== lines[at - 1];
    if (!isFirst) continue;
    const start = starts[at] as number;
    const indent = start - (text.lastIndexOf('\n', start - 1) + 1);
    const word = text.slice(start, ends[at]);
    const isEnd = word === 'end' && open.at(-1)?.indent === indent;
    // The closing bracket of a long call may be at the start of its line.
    if (!/^[)\]}]/.test(word)) closeFunctions(indent, isEnd ? at + 1 : at);
    const isAsync = word === 'async' && text.slice(starts[at + 1], ends[at + 1]) === 'def';
    if (functionWords.includes(word) || isAsync) {
      const named = at + (isAsync ? 2 : 1);
      open.push({ name: text.slice(starts[named], ends[named]), from: at, indent });
    }
  }
  closeFunctions(-1, count);
  return found;
}

function findBraced(tokens: CodeTokens, text: string, { functionWords }: CodeSyntax): FunctionSpan[] {
  const { count, kinds, starts } = tokens;
  const found: FunctionSpan[] = [];
  const isDeclared = functionWords.some((each) => NEEDED_WORDS.has(each));
  const declared = isDeclared ? findDeclarations(tokens, text, functionWords) : null;
  const braces: { at: number; head: { name: string; from: number } | null }[] = [];
  const parens: number[] = [];
  /** The opening parenthesis for each closing one, by token. */
  const openOf = new Map<number, number>();
  for (let at = 0; at < count; at += 1) {
    if (kinds[at] !== MARK) continue;
    const code = text.charCodeAt(starts[at] as number);
    if (code === OPEN_PAREN) parens.push(at);
    else if (code === CLOSE_PAREN) {
      const open = parens.pop();
      if (open !== undefined) openOf.set(at, open);
    } else if (code === OPEN) {
      const head =
        declared === null ? findHead(tokens, text, at, openOf, functionWords) : (declared.get(at) ?? null);
      braces.push({ at, head });
    } else if (code === CLOSE) {
      const brace = braces.pop();
      if (brace?.head != null) found.push({ ...brace.head, to: at + 1 });
    }
  }
  return found;
}

/** Functions that start with a keyword, by the brace of their body. */
function findDeclarations(
  { count, kinds, starts, ends }: CodeTokens,
  text: string,
  functionWords: readonly string[],
): Map<number, { name: string; from: number }> {
  const found = new Map<number, { name: string; from: number }>();
  for (let from = 0; from < count; from += 1) {
    if (kinds[from] !== KEYWORD || !functionWords.includes(text.slice(starts[from], ends[from]))) continue;
    let name = '';
    let depth = 0;
    for (let at = from + 1; at < Math.min(count, from + LONGEST_DECLARATION); at += 1) {
      const code = text.charCodeAt(starts[at] as number);
      if (depth === 0 && name === '' && kinds[at] === NAME) name = text.slice(starts[at], ends[at]);
      if (kinds[at] !== MARK) continue;
      if (code === OPEN_PAREN) depth += 1;
      else if (code === CLOSE_PAREN) depth -= 1;
      else if (code === CLOSE || depth < 0) break;
      else if (code === OPEN && depth === 0) {
        found.set(at, { name, from });
        break;
      }
    }
  }
  return found;
}

/** Returns the name and the first token of the function whose body starts at a brace; null for any other block. */
function findHead(
  tokens: CodeTokens,
  text: string,
  brace: number,
  openOf: ReadonlyMap<number, number>,
  functionWords: readonly string[],
): { name: string; from: number } | null {
  const { kinds, starts, ends } = tokens;
  const wordAt = (at: number): string => text.slice(starts[at], ends[at]);
  let close = brace - 1;
  const lowest = Math.max(0, brace - LONGEST_HEAD);
  for (; close >= lowest; close -= 1) {
    const word = wordAt(close);
    if (word === ')') break;
    // Return and throws types are here, but nothing that opens a call.
    if (kinds[close] === STRING || kinds[close] === NUMBER || NOT_IN_HEAD.has(word)) return null;
  }
  const open = close < lowest ? undefined : openOf.get(close);
  if (open === undefined) return null;
  let before = open - 1;
  // `(r *T) Name(x) (y, error) {` of Go: moves from the results to the parameters.
  const isResult = before >= 0 && wordAt(before) === ')' && openOf.has(before);
  if (isResult) before = (openOf.get(before) as number) - 1;
  before = skipTypeParameters(tokens, text, before);
  if (before < 0) return null;
  const word = wordAt(before);
  if (kinds[before] === NAME && !CONTROL.has(word)) {
    return { name: word, from: findStart(tokens, before, functionWords, wordAt) };
  }
  if (kinds[before] === KEYWORD && CONTROL.has(word)) return null;
  // `const name = (…) => {`, `name: function (…) {`
  const isNameless = functionWords.includes(word) || word === 'async' || word === '=' || word === ':';
  if (!isNameless) return null;
  for (let at = before; at > Math.max(0, before - 4); at -= 1)
    if (kinds[at] === NAME) return { name: wordAt(at), from: at };
  return { name: '', from: before };
}

/** Moves from the `>` of type parameters to the token before them. */
function skipTypeParameters({ starts }: CodeTokens, text: string, at: number): number {
  if (at < 0 || text.charCodeAt(starts[at] as number) !== 62) return at;
  for (let look = at, depth = 0; look >= 0 && at - look < LONGEST_HEAD; look -= 1) {
    const code = text.charCodeAt(starts[look] as number);
    if (code === 62) depth += 1;
    else if (code === 60) depth -= 1;
    if (depth === 0) return look - 1;
  }
  return at;
}

/** Finds the keyword that starts a function, such as `func` or `async`, if it is on the line of its name. */
function findStart(
  { lines }: CodeTokens,
  name: number,
  functionWords: readonly string[],
  wordAt: (at: number) => string,
): number {
  let from = name;
  for (let at = name - 1; at >= 0 && name - at < 12 && lines[at] === lines[name]; at -= 1) {
    if (wordAt(at) === '{' || wordAt(at) === '}') break;
    if (functionWords.includes(wordAt(at))) from = at;
  }
  return from;
}
