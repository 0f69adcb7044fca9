/** Lines that a program may print before or after its JSON. */
const BEFORE_JSON = 10_000;
const MOST_LINES_BEFORE = 20;
const AFTER_JSON = 2000;

/** Reports whether a text is JSON, possibly with a few lines around it: each entry may be the requested one. */
export function isJson(text: string): boolean {
  const start = /^[ \t]*[[{]/m.exec(text.slice(0, BEFORE_JSON));
  if (start === null || text.slice(0, start.index).split('\n').length > MOST_LINES_BEFORE) return false;
  const end = Math.max(text.lastIndexOf(']'), text.lastIndexOf('}')) + 1;
  if (text.length - end > AFTER_JSON) return false;
  try {
    JSON.parse(text.slice(start.index, end));
    return true;
  } catch {
    return false;
  }
}
