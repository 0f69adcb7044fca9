import { hashText } from './hash.ts';
import { dropImports } from './imports.ts';
import {
  findCommentEnd,
  findHeredocEnd,
  findInterpolatedEnd,
  findPlainEnd,
  findRegexEnd,
  type Heredoc,
  type LiteralEnd,
  readHeredoc,
} from './literal-ends.ts';
import type { CodeSyntax } from './syntaxes.ts';
import { createTokenList } from './token-list.ts';
import { type CodeTokens, KEYWORD, MARK, NAME, NUMBER, STRING } from './tokens.ts';

// Reads 15 languages without their grammars: a hook has 40 ms in total, and the comparison only needs the limits of
// words, literals and comments. A wrong guess (a quote in JSX, a regular expression) is corrected at the end of the
// line.

const SHAPE = { [NAME]: 0x9e3779b1, [NUMBER]: 0x85ebca6b, [STRING]: 0xc2b2ae35 } as const;
const LITERAL = 0x85ebca6b;

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isWordStart = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 36 || code > 127;
const isWordPart = (code: number): boolean => isWordStart(code) || isDigit(code);

const QUOTE = 34;
const APOSTROPHE = 39;
const SLASH = 47;
const STAR = 42;
const NEWLINE = 10;
const BACKSLASH = 92;
const HASH = 35;
const SEMICOLON = 59;
const BACKTICK = 96;
const LESS = 60;
const GREATER = 62;
const QUESTION = 63;

/** Heredocs that start on one line, and starts without an end, such as operators. */
const MOST_HEREDOCS = 10;
const MOST_MISSING = 50;

/** Starts of code inside strings, by the form of literals or the language. */
const INSERTS: Readonly<Record<string, readonly string[]>> = {
  shell: ['$(', '${'],
  regex: ['${'],
  ruby: ['#{'],
};

/** Words after which a slash starts a regular expression. */
const BEFORE_REGEX = new Set(
  [
    'return',
    'typeof',
    'case',
    'in',
    'of',
    'delete',
    'void',
    'throw',
    'await',
    'yield',
    'else',
    'do',
    'if',
    'unless',
    'when',
    'and',
    'or',
    'not',
  ].map((word) => hashText(word, 0, word.length)),
);

/** Returns where the code of a Ruby file ends: its data may follow. */
function findRubyEnd(text: string): number {
  const data = text.search(/^__END__$/m);
  return data < 0 ? text.length : data;
}

/** Reads a text in one pass; never throws. */
export function readTokens(text: string, syntax: CodeSyntax): CodeTokens {
  const most = Math.min(syntax.name === 'ruby' ? findRubyEnd(text) : text.length, 1 << 24);
  const tokens = createTokenList(most);
  const comments: number[] = [];
  const { keywords, quotes, longQuotes, tripleQuotes, literals, blockComments } = syntax;
  const hasSlashComments = syntax.lineComments.includes('//');
  const hasHashComments = syntax.lineComments.includes('#');
  const isPage = syntax.name === 'php';
  const isPreprocessed = syntax.name === 'c' || syntax.name === 'cpp' || syntax.name === 'csharp';
  const inserts = INSERTS[syntax.name] ?? INSERTS[literals ?? ''] ?? [];
  let line = 1;
  let at = 0;
  let lostAt: number | null = null;
  /** Heredocs whose texts start on the next line. */
  let heredocs: Heredoc[] = [];
  let missing = 0;

  const pushToken = (kind: number, hash: number, from: number, to: number, onLine = line): void =>
    tokens.push(kind, hash, from, to, onLine);

  /** Moves over a text and counts its lines. */
  function advanceTo(end: number): void {
    for (; at < end; at += 1) if (text.charCodeAt(at) === NEWLINE) line += 1;
  }

  const indexOrEnd = (what: string, from: number): number => {
    const found = text.indexOf(what, from);
    return found < 0 ? most : found;
  };

  function skipBlockComment(): void {
    const from = at;
    const { end, isClosed } = findCommentEnd(text, at, blockComments === 'nested', most);
    if (!isClosed) lostAt ??= line;
    comments.push(from, end);
    advanceTo(end);
  }

  function skipLineComment(): void {
    const end = indexOrEnd('\n', at);
    comments.push(at, end);
    at = end;
  }

  /** Reads a literal whose end was sought. One without an end is read up to the end of its line. */
  function pushLiteral({ end, isClosed }: LiteralEnd, from: number): void {
    if (!isClosed) {
      lostAt ??= line;
      readString(text.charCodeAt(at), false, from);
      return;
    }
    pushToken(STRING, hashText(text, at + 1, end - 1), from, end);
    advanceTo(end);
  }

  function startHeredoc(): boolean {
    if (text.charCodeAt(at + 1) !== LESS || heredocs.length === MOST_HEREDOCS || missing > MOST_MISSING)
      return false;
    const heredoc = readHeredoc(text, at, syntax.name);
    if (heredoc === null) {
      missing += 1;
      return false;
    }
    heredocs.push(heredoc);
    at += heredoc.length;
    return true;
  }

  /** Reads the texts of the heredocs that started on the line before. */
  function readHeredocs(): void {
    for (const heredoc of heredocs) {
      const found = findHeredocEnd(text, at, heredoc);
      if (found === null) continue;
      pushToken(STRING, hashText(text, at, found.from), at, found.end);
      advanceTo(found.end);
    }
    heredocs = [];
  }

  /** Reads a string up to its quote, or to the end of its line. */
  function readString(quote: number, isLong: boolean, from = at, hasEscapes = true): void {
    const onLine = line;
    let end = at + 1;
    for (; end < most; end += 1) {
      const code = text.charCodeAt(end);
      if (code === BACKSLASH && hasEscapes) end += 1;
      else if (code === quote) break;
      else if (code === NEWLINE && !isLong) break;
      // A wrongly detected multi-line string must not swallow the file.
      else if (isLong && end - at > 20_000) break;
    }
    if (isLong && text.charCodeAt(end) !== quote) lostAt ??= line;
    const inner = at + 1;
    const to = Math.min(end, most);
    const isClosed = text.charCodeAt(end) === quote;
    pushToken(STRING, hashText(text, inner, to), from, isClosed ? to + 1 : to, onLine);
    advanceTo(isClosed ? to + 1 : to);
  }

  function readTriple(quote: string): void {
    const onLine = line;
    const from = at;
    const end = indexOrEnd(quote, at + 3);
    if (end === most) lostAt ??= line;
    pushToken(STRING, hashText(text, at + 3, end), from, Math.min(end + 3, most), onLine);
    advanceTo(Math.min(end + 3, most));
  }

  function mayBeRegex(): boolean {
    const last = tokens.count - 1;
    if (last < 0) return true;
    if (tokens.kinds[last] === KEYWORD) return BEFORE_REGEX.has(tokens.texts[last] as number);
    if (tokens.kinds[last] !== MARK) return false;
    const mark = text.charCodeAt(tokens.starts[last] as number);
    // After ) ] } a division is more likely.
    return mark !== 41 && mark !== 93 && mark !== 125;
  }

  function readRegex(): boolean {
    const end = findRegexEnd(text, at, most);
    if (end === null) return false;
    pushToken(STRING, hashText(text, at, end - 1), at, end);
    at = end;
    return true;
  }

  /** Reads `r#"…"#` of Rust from its first quote; false for anything else. */
  function readRustRaw(from: number): boolean {
    const found = /^#*"/.exec(text.slice(at, at + 20))?.[0];
    if (found === undefined) return false;
    const onLine = line;
    const closing = `"${'#'.repeat(found.length - 1)}`;
    const inner = at + found.length;
    const end = indexOrEnd(closing, inner);
    if (end === most) lostAt ??= line;
    pushToken(STRING, hashText(text, inner, end), from, Math.min(end + closing.length, most), onLine);
    advanceTo(Math.min(end + closing.length, most));
    return true;
  }

  function readWord(): void {
    const from = at;
    do at += 1;
    while (at < most && isWordPart(text.charCodeAt(at)));
    const length = at - from;
    const next = text.charCodeAt(at);
    if (length <= 3 && (next === QUOTE || next === APOSTROPHE || next === HASH)) {
      const word = text.slice(from, at).toLowerCase();
      if (literals === 'rust' && /^b?r$/.test(word) && readRustRaw(from)) return;
      if (syntax.name === 'python' && /^[rbfut]{1,2}$/.test(word)) {
        readQuoted(next, from);
        return;
      }
    }
    const hash = hashText(text, from, at);
    pushToken(keywords.has(hash) ? KEYWORD : NAME, hash, from, at);
  }

  function readQuoted(code: number, from = at): void {
    if (tripleQuotes && text.charCodeAt(at + 1) === code && text.charCodeAt(at + 2) === code) {
      const isTriple = code === QUOTE || (code === APOSTROPHE && syntax.name === 'python');
      if (isTriple) {
        readTriple(String.fromCharCode(code).repeat(3));
        return;
      }
    }
    const isLong = longQuotes.includes(String.fromCharCode(code));
    const isRaw =
      (literals === 'shell' && code === APOSTROPHE) || (syntax.name === 'go' && code === BACKTICK);
    // After a literal without an end, no text is searched to its end again.
    if (lostAt !== null) readString(code, isLong, from);
    else if (isRaw && text[at - 1] !== '$') pushLiteral(findPlainEnd(text, at, most), from);
    else if (isLong && inserts.length > 0 && code !== APOSTROPHE)
      pushLiteral(findInterpolatedEnd(text, at, inserts, most), from);
    else readString(code, isLong, from);
  }

  /** Skips the text of a page around its code. */
  function skipPage(from: number): void {
    const open = text.indexOf('<?', from);
    advanceTo(open < 0 ? most : open + 2);
  }

  if (isPage && text.includes('<?')) skipPage(0);
  while (at < most) {
    const code = text.charCodeAt(at);
    if (code === NEWLINE) {
      line += 1;
      at += 1;
      if (heredocs.length > 0) readHeredocs();
    } else if (code <= 32 || code === SEMICOLON) {
      at += 1;
    } else if (isWordStart(code)) {
      readWord();
    } else if (isDigit(code)) {
      const from = at;
      do at += 1;
      while (at < most && (isWordPart(text.charCodeAt(at)) || text.charCodeAt(at) === 46));
      pushToken(NUMBER, hashText(text, from, at), from, at);
    } else if (code === BACKSLASH && literals === 'shell') {
      // The next character is quoted; at the end of a line it is not part of the code either.
      at += text.charCodeAt(at + 1) === NEWLINE ? 1 : 2;
    } else if (isPage && code === QUESTION && text.charCodeAt(at + 1) === GREATER) {
      skipPage(at);
    } else if (code === LESS && startHeredoc()) {
      // Its text is read with the next line.
    } else if (code === SLASH && hasSlashComments && text.charCodeAt(at + 1) === SLASH) {
      skipLineComment();
    } else if (code === SLASH && blockComments !== 'none' && text.charCodeAt(at + 1) === STAR) {
      skipBlockComment();
    } else if (
      code === HASH &&
      hasHashComments &&
      (literals !== 'shell' ||
        at === 0 ||
        text.charCodeAt(at - 1) <= 32 ||
        ';(|&'.includes(text[at - 1] as string))
    ) {
      skipLineComment();
    } else if (code === HASH && isPreprocessed) {
      // A directive says little about what code does, and `#include` only names files.
      at = indexOrEnd('\n', at);
    } else if (code === APOSTROPHE && literals === 'rust') {
      // A lifetime, unless it closes immediately.
      const isChar = text.charCodeAt(at + 1) === BACKSLASH || text.charCodeAt(at + 2) === APOSTROPHE;
      if (isChar) readString(APOSTROPHE, false);
      else at += 1;
    } else if (code === 64 && literals === 'verbatim' && text.charCodeAt(at + 1) === QUOTE) {
      const from = at;
      at += 1;
      readString(QUOTE, true, from, false);
    } else if (quotes.includes(text[at] as string) || longQuotes.includes(text[at] as string)) {
      readQuoted(code);
    } else if (code === SLASH && literals === 'regex' && mayBeRegex() && readRegex()) {
      // Already read.
    } else {
      pushToken(MARK, code, at, at + 1);
      at += 1;
    }
  }
  const { push: _, ...arrays } = tokens;
  const whole = { ...arrays, shapes: arrays.texts, comments, lostAt };
  return addShapes(dropImports(whole, text, syntax));
}

function addShapes(tokens: Omit<CodeTokens, 'shapes'>): CodeTokens {
  const { count, kinds, texts } = tokens;
  const shapes = new Uint32Array(count);
  for (let at = 0; at < count; at += 1) {
    const kind = kinds[at] as number;
    if (kind === NAME) shapes[at] = SHAPE[NAME];
    // A number that became a string, or vice versa, is the same literal to a reader.
    else if (kind === NUMBER || kind === STRING) shapes[at] = LITERAL;
    else shapes[at] = texts[at] as number;
  }
  return { ...tokens, shapes };
}
