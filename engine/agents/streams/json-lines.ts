import { NO_FACTS, type StreamFacts, type StreamReader } from './stream.ts';

/** An object out of parsed JSON: nothing in it is sure. */
export type Json = Record<string, unknown>;

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const asJson = (value: unknown): Json => (isJson(value) ? value : {});

/** The objects of a list. */
export const asJsonList = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

export const asString = (value: unknown): string => (typeof value === 'string' ? value : '');

export const asNumber = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : 0;

/** What is known so far, to be added to. */
export type Facts = { -readonly [K in keyof StreamFacts]: StreamFacts[K] };

/** Longer lines that no reader knows are cut. */
const UNKNOWN_LENGTH = 4096;

/**
 * A reader of a JSON object a line. `take` adds to the facts and answers what a person reads of the event; undefined says
 * that it is of another form. `plain` sees every other line: some agents tell of their failures beside the stream.
 */
export function createJsonReader(
  take: (event: Json, facts: Facts) => string | null | undefined,
  plain: (text: string, facts: Facts) => void = () => {},
): StreamReader {
  const facts: Facts = { ...NO_FACTS, plan: [] };
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
          // A shape that nobody has seen yet: shown as it is.
        }
      } else plain(text.slice(0, UNKNOWN_LENGTH), facts);
      return text.length > UNKNOWN_LENGTH ? `${text.slice(0, UNKNOWN_LENGTH)}…` : text;
    },
    facts: () => ({ ...facts, plan: [...facts.plan] }),
  };
}

function parseJsonLine(text: string): Json | null {
  if (!text.trimStart().startsWith('{')) return null;
  try {
    return asJson(JSON.parse(text));
  } catch {
    return null;
  }
}

/** In one line of at most so many characters. */
export function toOneLine(text: string, length = 120): string {
  // A little more than is shown is looked at, so that a huge text costs nothing.
  const line = text
    .slice(0, length * 8)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
