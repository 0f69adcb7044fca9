// The ends of literals that contain code or other literals.

const BACKSLASH = 92;
const BACKTICK = 96;
/** Deeper nesting is not followed. */
const MOST_NESTED = 50;

/** The end of a literal, or how far it was read. */
export interface LiteralEnd {
  /** The position after it. */
  end: number;
  isClosed: boolean;
}

const OPENING: Readonly<Record<string, string>> = { '(': ')', '{': '}' };

/**
 * Finds the end of a string into which code is inserted: `"$(…)"` of the shell, `` `${…}` `` of scripts, `"#{…}"` of
 * Ruby. The inserted code may hold such strings itself.
 * @param start the position of its first quote
 * @param inserts the starts of inserted code, such as `$(`
 * @param most the end of the text
 */
export function findInterpolatedEnd(
  text: string,
  start: number,
  inserts: readonly string[],
  most = text.length,
  depth = 0,
): LiteralEnd {
  const quote = text.charCodeAt(start);
  // All of a language start with the same character.
  const first = inserts[0]?.charCodeAt(0) ?? -1;
  const isShell = inserts.includes('$(');
  for (let at = start + 1; at < most; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === quote) return { end: at + 1, isClosed: true };
    else if (code === first || (isShell && code === BACKTICK)) {
      const isCommand = code === BACKTICK;
      if (!isCommand && !inserts.some((insert) => text.startsWith(insert, at))) continue;
      const inner =
        depth > MOST_NESTED
          ? { end: at, isClosed: false }
          : isCommand
            ? findInterpolatedEnd(text, at, inserts, most, depth + 1)
            : findInsertedEnd(text, at + 1, inserts, most, depth + 1);
      if (!inner.isClosed) return inner;
      at = inner.end - 1;
    }
  }
  return { end: most, isClosed: false };
}

/** Finds the end of code in brackets inside a string, from its opening bracket. */
function findInsertedEnd(
  text: string,
  start: number,
  inserts: readonly string[],
  most: number,
  depth: number,
): LiteralEnd {
  const [open, close] = [text[start], OPENING[text[start] as string]];
  const isShell = inserts.includes('$(');
  let level = 0;
  for (let at = start; at < most; at += 1) {
    const letter = text[at];
    if (letter === '\\') at += 1;
    else if (isShell && letter === '#' && /\s/.test(text[at - 1] as string)) {
      const line = text.indexOf('\n', at);
      if (line < 0) break;
      at = line;
    } else if (letter === open) level += 1;
    else if (letter === close) {
      level -= 1;
      if (level === 0) return { end: at + 1, isClosed: true };
    } else if (letter === '"' || letter === '`' || (letter === "'" && (!isShell || open === '('))) {
      const inner =
        letter === "'" && isShell
          ? findPlainEnd(text, at, most)
          : findInterpolatedEnd(text, at, letter === "'" ? [] : inserts, most, depth + 1);
      if (!inner.isClosed) return inner;
      at = inner.end - 1;
    }
  }
  return { end: most, isClosed: false };
}

/** Finds the end of a string without escapes. */
export function findPlainEnd(text: string, start: number, most = text.length): LiteralEnd {
  const found = text.indexOf(text[start] as string, start + 1);
  return found < 0 || found >= most ? { end: most, isClosed: false } : { end: found + 1, isClosed: true };
}

/** Finds the end of a comment between slashes and stars. */
export function findCommentEnd(text: string, start: number, isNested: boolean, most: number): LiteralEnd {
  let look = start + 2;
  for (let depth = 1; depth > 0; ) {
    const close = text.indexOf('*/', look);
    const open = isNested ? text.indexOf('/*', look) : -1;
    if (close < 0 || close + 2 > most) return { end: most, isClosed: false };
    const isOpened = open >= 0 && open < close;
    depth += isOpened ? 1 : -1;
    look = (isOpened ? open : close) + 2;
  }
  return { end: look, isClosed: true };
}

/** Finds the end of a regular expression, which is on the same line; null if there is none. */
export function findRegexEnd(text: string, start: number, most: number): number | null {
  let isInClass = false;
  for (let at = start + 1; at < most; at += 1) {
    const letter = text[at];
    if (letter === '\n') return null;
    if (letter === '\\') at += 1;
    else if (letter === '[') isInClass = true;
    else if (letter === ']') isInClass = false;
    else if (letter === '/' && !isInClass) return at + 1;
  }
  return null;
}

/** A text that starts on the next line and ends before the line of a word. */
export interface Heredoc {
  word: string;
  /** White space that may precede the word. */
  indent: 'none' | 'tabs' | 'any';
}

/** Starts of heredocs; `<<` of another language is an operator. */
const HEREDOCS = {
  bash: /<<(-?)[ \t]*(\\?|["'])([\w.-]+)\2/y,
  ruby: /<<([~-]?)(["'`]?)([A-Z_]\w*)\2/y,
  php: /<<<()[ \t]*(["']?)([A-Za-z_]\w*)\2/y,
} as const;

/** Reports whether a position is in `((…))` of its line, where `<<` shifts bits. */
function isArithmetic(text: string, at: number): boolean {
  const before = text.slice(Math.max(text.lastIndexOf('\n', at) + 1, at - 500), at);
  return before.lastIndexOf('((') > before.lastIndexOf('))');
}

/** Reads the start of a heredoc; null if there is none, or the text has no end of it. */
export function readHeredoc(
  text: string,
  at: number,
  language: string,
): (Heredoc & { length: number }) | null {
  const pattern = HEREDOCS[language as keyof typeof HEREDOCS];
  if (pattern === undefined || text[at - 1] === '<' || isArithmetic(text, at)) return null;
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  if (found === null) return null;
  const [start, mark = '', , word = ''] = found;
  const indent =
    language === 'bash'
      ? mark === ''
        ? 'none'
        : 'tabs'
      : language === 'ruby' && mark === ''
        ? 'none'
        : 'any';
  const heredoc: Heredoc = { word, indent };
  const line = text.indexOf('\n', at);
  return line < 0 || findHeredocEnd(text, line + 1, heredoc) === null
    ? null
    : { ...heredoc, length: start.length };
}

const INDENTS = { none: '', tabs: '\\t*', any: '[ \\t]*' } as const;

/** Finds the line of the word that ends a heredoc: its start, and the position after the word; null if it is missing. */
export function findHeredocEnd(
  text: string,
  from: number,
  { word, indent }: Heredoc,
): { from: number; end: number } | null {
  const pattern = new RegExp(`^${INDENTS[indent]}${word.replaceAll('.', '\\.')}(?![\\w.-])`, 'gm');
  pattern.lastIndex = from;
  const found = pattern.exec(text);
  return found === null ? null : { from: found.index, end: found.index + found[0].length };
}
