/** JSON with numbers that JavaScript cannot hold, such as ids above 2^53: they are kept as they were written. */
import { isJsonObject } from '../core/base/json-object.ts';

/** A number as it was written; `JSON.stringify` writes it as it is. */
interface RawNumber {
  rawJSON: string;
}

// Node 22 has these; the library of types does not know them yet.
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(source: string): RawNumber;
  isRawJSON(value: unknown): boolean;
};

/** Sixteen digits or more, or an exponent of three: all other numbers are held as they are. It is tried where a number begins only. */
const IS_LONG = /(?<![\d.])\d[\d.]{15}|\d[eE][-+]?\d{3}/;
/** The same in the place of a value. A text may have it too, which only costs time; the first look is the faster one. */
const IS_LONG_VALUE = /(?:^|[:[,])\s*-?(?:[\d.]{16}|[\d.]+[eE][-+]?\d{3})/;

/** The number that a token stands for, without zeros and exponents that change nothing. */
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

/** Parses JSON without rounding any number. Throws a `SyntaxError` for what is no JSON. */
export function parseExactJson(text: string): unknown {
  // A string alone has no numbers, and is what is read most.
  if (text.startsWith('"') || !IS_LONG.test(text) || !IS_LONG_VALUE.test(text)) return JSON.parse(text);
  return JSON.parse(text, keepExact);
}

/** Whether a value is a number that `parseExactJson` has kept as it was written. */
export const isRawNumber = (value: unknown): value is RawNumber => isJsonObject(value) && isRawJSON(value);
