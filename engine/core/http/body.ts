import { isUtf8 } from 'node:buffer';
import { checkWholeText } from '../api/operation.ts';
import { SvcError } from '../base/errors.ts';
import { isJsonObject } from '../base/json-object.ts';

export type JsonObject = Record<string, unknown>;

const bodyInvalidError = (message: string, hint?: string) =>
  new SvcError('body_invalid', message, hint === undefined ? {} : { hint });

function decodeUtf8(body: Buffer): string {
  // Buffer.toString would replace invalid bytes silently.
  if (!isUtf8(body)) throw bodyInvalidError('the body is not UTF-8');
  return body.toString('utf8');
}

/** Parses the body as a JSON object. Throws `body_invalid` (not UTF-8, not JSON) or `fields_invalid` (not an object, or a lone surrogate in it). */
export function parseJsonBody(body: Buffer): JsonObject {
  const text = decodeUtf8(body);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw bodyInvalidError('the body is not JSON', explainNotJson(text));
  }
  if (!isJsonObject(value)) throw fieldsInvalidError([{ field: '(body)', problem: 'must be an object' }]);
  checkWholeText(value);
  return value;
}

/** Explains how to send JSON instead of an empty body or a form, which many programs send by default. */
function explainNotJson(text: string): string | undefined {
  if (text === '') return 'send {} if there is nothing to send';
  const isForm = /^[\w.~%+*[\]-]{1,100}=/.test(text);
  return isForm ? 'it is a form: set the content type to application/json' : undefined;
}

/**
 * Extracts the JSON text from a form with the field `payload`, which code hosts send by default; returns any other
 * body unchanged. Throws `body_invalid`.
 */
export function readFormPayload(body: Buffer, contentType: string | undefined): Buffer {
  if (contentType?.split(';')[0]?.trim().toLowerCase() !== 'application/x-www-form-urlencoded') return body;
  const payload = parseFormBody(body).get('payload');
  if (payload !== undefined) return Buffer.from(payload);
  throw bodyInvalidError(
    'the form has no field payload',
    'set the content type of the webhook to application/json',
  );
}

/** Parses the body as form fields (WHATWG URL §5); the first field of a name wins. Throws `body_invalid`. */
export function parseFormBody(body: Buffer): Map<string, string> {
  const text = decodeUtf8(body);
  const fields = new Map<string, string>();
  // URLSearchParams accepts anything, and a JSON body would become one odd field name.
  if (/^\s*[[{]/.test(text))
    throw bodyInvalidError(
      'the body is not form-encoded',
      'it is JSON: set the content type to application/x-www-form-urlencoded',
    );
  try {
    for (const pair of text.split('&')) {
      if (pair === '') continue;
      const at = pair.indexOf('=');
      const name = decodeFormText(at === -1 ? pair : pair.slice(0, at));
      if (!fields.has(name)) fields.set(name, at === -1 ? '' : decodeFormText(pair.slice(at + 1)));
    }
  } catch {
    throw bodyInvalidError('the body is not form-encoded');
  }
  return fields;
}

const decodeFormText = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));

export interface FieldProblem {
  field: string;
  problem: string;
}

/** Creates a `fields_invalid` error that names every field. */
export const fieldsInvalidError = (fields: readonly FieldProblem[]): SvcError =>
  new SvcError('fields_invalid', fields.map(({ field, problem }) => `${field}: ${problem}`).join('; '), {
    data: { fields },
  });

/** Reads an optional nonempty string; adds errors to `problems`. */
export function readTextField(body: JsonObject, field: string, problems: FieldProblem[]): string | undefined {
  const value = body[field];
  if (value === undefined) return undefined;
  if (typeof value !== 'string') problems.push({ field, problem: 'must be a string' });
  else if (value.trim() === '') problems.push({ field, problem: 'must not be empty' });
  // A program's argument cannot contain NUL.
  else if (value.includes('\0')) problems.push({ field, problem: 'must not contain NUL' });
  else return value;
  return undefined;
}

/** Reads an optional boolean, false when absent. */
export function readFlagField(body: JsonObject, field: string, problems: FieldProblem[]): boolean {
  const value = body[field];
  if (value === undefined) return false;
  if (typeof value !== 'boolean') problems.push({ field, problem: 'must be true or false' });
  return value === true;
}

/**
 * Refuses our own outbound events: an event is signed with the secret that may also sign requests, and names a
 * decision, so its reader could send it back as a request with a valid signature.
 */
export function refuseOwnEvent(body: JsonObject, problems: FieldProblem[]): void {
  if (Object.hasOwn(body, 'event'))
    problems.push({ field: 'event', problem: 'belongs to an outgoing event, not to a request' });
}
