import { NO_FACTS, type StreamFacts, type StreamReader } from './stream.ts';

/** An object from parsed JSON: nothing in it is guaranteed. */
export type JsonRecord = Record<string, unknown>;

export const isJson = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const asJson = (value: unknown): JsonRecord => (isJson(value) ? value : {});

/** Returns the objects of a list. */
export const asJsonList = (value: unknown): JsonRecord[] =>
  Array.isArray(value) ? value.filter(isJson) : [];

export const asString = (value: unknown): string => (typeof value === 'string' ? value : '');

export const asNumber = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : 0;

/** The facts so far, to be extended. */
export type RunFacts = { -readonly [K in keyof StreamFacts]: StreamFacts[K] };

/** Unknown longer lines are cut. */
const UNKNOWN_LENGTH = 4096;

/**
 * Creates a reader of one JSON object per line. `take` updates the facts and returns the text for a person; undefined
 * means an unknown form. `plain` gets every other line: some agents report failures outside the stream.
 */
export function createJsonReader(
  take: (event: JsonRecord, facts: RunFacts) => string | null | undefined,
  plain: (text: string, facts: RunFacts) => void = () => {},
): StreamReader {
  const facts: RunFacts = { ...NO_FACTS, plan: [] };
  return {
    readLine(text) {
      const event = parseJsonLine(text);
      if (event !== null) {
        try {
          const read = take(event, facts);
          if (read !== undefined) {
            facts.isStream = true;
            return read;
          }
        } catch {
          // An unknown shape is shown as it is.
        }
      } else plain(text.slice(0, UNKNOWN_LENGTH), facts);
      return text.length > UNKNOWN_LENGTH ? `${text.slice(0, UNKNOWN_LENGTH)}…` : text;
    },
    facts: () => ({ ...facts, plan: [...facts.plan] }),
  };
}

function parseJsonLine(text: string): JsonRecord | null {
  if (!text.trimStart().startsWith('{')) return null;
  try {
    return asJson(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Shortens a text to one line of at most this many characters. */
export function toOneLine(text: string, length = 120): string {
  // Only slightly more than is shown is processed, so that a huge text costs nothing.
  const line = text
    .slice(0, length * 8)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
