import type { CodeSyntax } from './syntaxes.ts';
import type { CodeTokens } from './tokens.ts';

const isOpening = (code: number): boolean => code === 40 || code === 91 || code === 123;
const isClosing = (code: number): boolean => code === 41 || code === 93 || code === 125;

/** Removes statements that only name other files: all files of a project start with similar ones. */
export function dropImports<T extends CodeTokens>(tokens: T, text: string, syntax: CodeSyntax): T {
  const { count, kinds, texts, starts, ends, lines } = tokens;
  if (syntax.imports.size === 0) return tokens;
  let kept = 0;
  for (let at = 0; at < count; ) {
    const end = findImportEnd(tokens, at, text, syntax);
    if (end > at) {
      at = end;
      continue;
    }
    kinds[kept] = kinds[at] as number;
    texts[kept] = texts[at] as number;
    starts[kept] = starts[at] as number;
    ends[kept] = ends[at] as number;
    lines[kept] = lines[at] as number;
    kept += 1;
    at += 1;
  }
  return { ...tokens, count: kept };
}

/** Returns the token after the import that starts at `at`; `at` itself if there is none. */
function findImportEnd(tokens: CodeTokens, at: number, text: string, syntax: CodeSyntax): number {
  const { count, starts, ends, lines } = tokens;
  const line = lines[at] as number;
  if (at > 0 && lines[at - 1] === line && !endsStatement(text, tokens, at)) return at;
  const word = text.slice(starts[at], ends[at]);
  const isReExport =
    word === 'export' &&
    syntax.imports.has('import') &&
    /^export\s+(?:\*|(?:type\s+)?\{)/.test(text.slice(starts[at], (starts[at] as number) + 40));
  if (!syntax.imports.has(word) && !isReExport) return at;
  // `import(…)` is a call.
  if (word === 'import' && syntax.functionWords.includes('function') && text[ends[at] as number] === '(')
    return at;
  let depth = 0;
  let end = at + 1;
  for (; end < count; end += 1) {
    const from = starts[end] as number;
    const code = text.charCodeAt(from);
    if (depth === 0 && endsStatement(text, tokens, end)) break;
    if (depth === 0 && lines[end] !== lines[end - 1] && !continues(text, tokens, end)) break;
    if (isOpening(code)) depth += 1;
    else if (isClosing(code)) depth -= 1;
    if (depth < 0) return at;
    if (end - at > 400) return at;
  }
  return end;
}

/** Reports whether a semicolon precedes a token. */
function endsStatement(text: string, { starts, ends }: CodeTokens, at: number): boolean {
  const between = text.slice(ends[at - 1], Math.min(starts[at] as number, (ends[at - 1] as number) + 20));
  return between.includes(';');
}

/** Reports whether a token on a new line continues the previous line: `from` of a long import. */
function continues(text: string, { starts, ends }: CodeTokens, at: number): boolean {
  const last = text[(ends[at - 1] as number) - 1];
  return last === ',' || last === '\\' || text.slice(starts[at], ends[at]) === 'from';
}
