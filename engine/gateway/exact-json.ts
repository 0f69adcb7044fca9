/** JSON with numbers that JavaScript cannot represent, such as ids above 2^53: they are kept as written. */
import { isJsonObject } from '../core/base/json-object.ts';

/** A number as written; `JSON.stringify` writes it unchanged. */
interface RawNumber {
  rawJSON: string;
}

// Node 22 supports these; the type library does not know them yet.
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(source: string): RawNumber;
  isRawJSON(value: unknown): boolean;
};

/** Sixteen digits or more, or an exponent of three digits: all other numbers are exact. Only tried at the start of a number. */
const IS_LONG = /(?<![\d.])\d[\d.]{15}|\d[eE][-+]?\d{3}/;
/** The same pattern in the position of a value. A match inside a text only costs time; this first check is faster. */
const IS_LONG_VALUE = /(?:^|[:[,])\s*-?(?:[\d.]{16}|[\d.]+[eE][-+]?\d{3})/;

/** Returns the number that a token represents, without redundant zeros and exponents. */
function normalizeNumber(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  const digits = `${whole}${fraction}`;
  const first = digits.replace(/^0+/, '');
  const last = first.replace(/0+$/, '');
  if (last === '') return '0';
  return `${sign}${last}e${Number(exponent) - fraction.length + first.length - last.length}`;
}

const holds = (value: number, source: string): boolean =>
  Number.isFinite(value) && normalizeNumber(String(value)) === normalizeNumber(source);

function keepExact(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || holds(value, source)) return value;
  return rawJSON(source);
}

/** Parses JSON without rounding numbers. Throws a `SyntaxError` for invalid JSON. */
export function parseExactJson(text: string): unknown {
  // A plain string contains no numbers and is the most frequent input.
  if (text.startsWith('"') || !IS_LONG.test(text) || !IS_LONG_VALUE.test(text)) return JSON.parse(text);
  return JSON.parse(text, keepExact);
}

/** Reports whether a value is a number that `parseExactJson` kept as written. */
export const isRawNumber = (value: unknown): value is RawNumber => isJsonObject(value) && isRawJSON(value);
