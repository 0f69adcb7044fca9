/** A line taken apart for comparing. Nothing of it is ever shown. */
export interface Shape {
  /** Equal for lines that differ in times, ids and numbers only. */
  key: string;
  tokens: readonly string[];
  /** What each token is compared by: itself, or one of the masks. */
  masked: readonly string[];
}

/** In place of a time, and of an id that says nothing to a reader. */
export const TIME = '<t>';
export const ID = '<id>';

const TOKEN = /\d\d:\d\d:\d\d,\d{3}(?!\d)|[^\s,"'`()[\]{}=;<>|]+|[,"'`()[\]{}=;<>|]/gu;

const TIMES =
  /^(?:\d{4}[-/.]\d\d[-/.]\d\d(?:[T_]\d\d:?\d\d(?::?\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d\d[-/.]\d\d[-/.]\d{2,4}|\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d|\d{1,2}:\d\d:\d\d(?:[.,]\d+)?Z?|\d{1,2}[hm]\d\d?[ms]?)$/;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const HEX = /0x[0-9a-f]{4,}|(?<![0-9a-z])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,}(?![0-9a-z])/gi;
const LONG_ID = /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[\w+/-]{20,}=*$/;
const NUMBER = /\d+(?:[.,]\d+)*/g;
/** A place in a file: what names a failure is never taken for a number. */
const PLACE = /\.[\p{L}_]\w{0,11}:\d+|^\d+:\d+$/u;
const BEFORE_LINE_NUMBER = /^(?:line|lines|zeile|ligne|l[ií]nea|linha|riga|строка|行|行号|第|at|:)$/iu;
/** `name.ts(12,5)`: the parentheses make tokens of their own. */
const PLACE_IN_LINE = /\.\w{1,11}\(\d+(?:,\d+)?\)/;
const DIGIT = /\d/;

/** Makes the function that takes lines apart; it remembers tokens, of which there are few kinds. */
export function createShaper(): (line: string, exact?: boolean) => Shape {
  const known = new Map<string, string>();
  const mask = (token: string): string => {
    let found = known.get(token);
    if (found === undefined) {
      found = maskToken(token);
      known.set(token, found);
    }
    return found;
  };
  return (line, exact = false) => {
    const tokens = line.match(TOKEN) ?? [];
    const keepsNumbers = exact || PLACE_IN_LINE.test(line);
    const masked = tokens.map((token, at) => {
      if (!DIGIT.test(token)) return token;
      const other = mask(token);
      if (other === TIME || other === ID || other.includes(ID)) return other;
      return keepsNumbers || (at > 0 && BEFORE_LINE_NUMBER.test(tokens[at - 1] as string)) ? token : other;
    });
    return { key: `${indentOf(line)}\u0000${masked.join(' ')}`, tokens, masked };
  };
}

function maskToken(token: string): string {
  if (TIMES.test(token)) return TIME;
  if (PLACE.test(token)) return token.replace(HEX, ID);
  if (LONG_ID.test(token)) return ID;
  const withoutIds = token.replace(UUID, ID).replace(HEX, ID);
  return withoutIds.replace(NUMBER, '0');
}

/** How far a line is indented, a tab as one step of eight. */
export function indentOf(line: string): number {
  let width = 0;
  for (let at = 0; at < line.length; at += 1) {
    const code = line.charCodeAt(at);
    if (code === 32) width += 1;
    else if (code === 9) width += 8;
    else break;
  }
  return width;
}

/** The first number in a token, for comparing sizes. */
export function readNumber(token: string): number {
  const found = /\d+(?:[.,]\d+)*/.exec(token);
  return found === null ? Number.NaN : Number(found[0].replace(/,(?=\d{3})/g, '').replace(',', '.'));
}
