/** A line split for comparison. None of it is ever shown. */
export interface LineShape {
  /** Equal for lines that differ only in times, ids and numbers. */
  key: string;
  tokens: readonly string[];
  /** The comparison value of each token: itself, or one of the masks. */
  masked: readonly string[];
}

/** Replaces a time, and an id without meaning for a reader. */
export const TIME = '<t>';
export const ID = '<id>';

const TOKEN = /\d\d:\d\d:\d\d,\d{3}(?!\d)|[^\s,"'`()[\]{}=;<>|]+|[,"'`()[\]{}=;<>|]/gu;

const TIMES =
  /^(?:\d{4}[-/.]\d\d[-/.]\d\d(?:[T_]\d\d:?\d\d(?::?\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d\d[-/.]\d\d[-/.]\d{2,4}|\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d|\d{1,2}:\d\d:\d\d(?:[.,]\d+)?Z?|\d{1,2}[hm]\d\d?[ms]?)$/;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const HEX = /0x[0-9a-f]{4,}|(?<![0-9a-z])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,}(?![0-9a-z])/gi;
const LONG_ID = /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[\w+/-]{20,}=*$/;
const NUMBER = /\d+(?:[.,]\d+)*/g;
/** A position in a file: the name of a failure is never treated as a number. */
const PLACE = /\.[\p{L}_]\w{0,11}:\d+|^\d+:\d+$/u;
const BEFORE_LINE_NUMBER = /^(?:line|lines|zeile|ligne|l[ií]nea|linha|riga|строка|行|行号|第|at|:)$/iu;
/** `name.ts(12,5)`: the parentheses are separate tokens. */
const PLACE_IN_LINE = /\.\w{1,11}\(\d+(?:,\d+)?\)/;
const DIGIT = /\d/;

/** Creates the function that splits lines; it caches tokens, of which there are few kinds. */
export function createShaper(): (line: string, exact?: boolean) => LineShape {
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

/** Returns the indentation of a line; a tab is one step of eight. */
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

/** Returns the first number in a token, for comparing sizes. */
export function readNumber(token: string): number {
  const found = /\d+(?:[.,]\d+)*/.exec(token);
  return found === null ? Number.NaN : Number(found[0].replace(/,(?=\d{3})/g, '').replace(',', '.'));
}
