import { z } from 'zod';
import { SvcError } from '../../core/base/errors.ts';
import { isJsonObject } from '../../core/base/json-object.ts';
import { fromWireError } from '../../core/base/wire-error.ts';
import { malformedError } from './frames.ts';

/** The largest message: a call, an answer, a report or a notice, as JSON. */
export const LARGEST_MESSAGE = 8 * 1024 * 1024;
/** Deeper values are refused, so that code which walks through one cannot exhaust the stack. */
const DEEPEST = 100;

const name = z.string().min(1).max(200);

export const helloMessage = z.object({
  protocol: z.int(),
  version: z.string().max(100),
  about: z.unknown().optional(),
});
export const callMessage = z.object({ method: name, input: z.unknown().optional() });
export const valueMessage = z.object({ value: z.unknown().optional() });
export const noticeMessage = z.object({ name, data: z.unknown().optional() });
export const openMessage = z.object({
  name,
  data: z.unknown().optional(),
  lane: z.enum(['calls', 'logs', 'files']),
});
const failureMessage = z.object({ message: z.string(), data: z.record(z.string(), z.unknown()) });

/** Parses JSON of the other end. Throws `answer_invalid`. */
export function parseMessage<T>(schema: z.ZodType<T>, payload: Buffer): T {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString('utf8'));
  } catch {
    throw malformedError('a message that is not JSON');
  }
  if (!isJsonObject(value)) throw malformedError('a message that is not a JSON object');
  checkDepth(value, DEEPEST);
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path }) => path.join('.')).join(', ');
  throw malformedError(`a message with an invalid ${fields}`);
}

/** Parses an error of the other end. Throws `answer_invalid` if it is none. */
export const parseFailure = (payload: Buffer): SvcError =>
  fromWireError(parseMessage(failureMessage, payload));

function checkDepth(value: unknown, left: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (left === 0) throw malformedError(`a message nested deeper than ${DEEPEST} levels`);
  for (const each of Array.isArray(value) ? value : Object.values(value)) checkDepth(each, left - 1);
}

/** Creates the error of a message above the limit. */
export const messageTooLargeError = (): SvcError =>
  new SvcError('body_too_large', `a message between two machines has at most ${LARGEST_MESSAGE} bytes`, {
    hint: 'send less, or send it as a stream',
  });
