import type { z } from 'zod';
import { SvcError } from './errors.ts';
import { formatCount } from './text.ts';

/** Lists every invalid field with one sentence each; `known` are the existing names. */
export function fieldsInvalid(error: z.ZodError, known: readonly string[] = []): SvcError {
  const fields = error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({
          field: [...issue.path, key].join('.'),
          problem:
            issue.path.length > 0 || known.length === 0 ? 'unknown' : `unknown; known: ${known.join(', ')}`,
        }))
      : [{ field: issue.path.join('.') || '(body)', problem: problemWith(issue) }],
  );
  const text = fields.map(({ field, problem }) => `${field}: ${problem}`).join('; ');
  return new SvcError('fields_invalid', text, { data: { fields } });
}

/** Rephrases the library's messages for a missing value or a wrong type, which read like an internal error. */
function problemWith(issue: z.core.$ZodIssue): string {
  const { code, message } = issue;
  if (code === 'too_small') return boundWords('at least', issue.minimum, issue.origin);
  if (code === 'too_big') return boundWords('at most', issue.maximum, issue.origin);
  if (code !== 'invalid_type') return message.replace(/^Invalid (?:input|option): /, '');
  if (message.endsWith('received undefined')) return 'is missing';
  return message.replace(/^Invalid input: /, '');
}

function boundWords(bound: 'at least' | 'at most', limit: number | bigint, origin: string): string {
  if (origin === 'string')
    return bound === 'at least' && limit === 1
      ? 'must not be empty'
      : `must have ${bound} ${formatCount(Number(limit), 'character')}`;
  if (origin === 'array') return `must have ${bound} ${formatCount(Number(limit), 'entry', 'entries')}`;
  return `must be ${bound} ${limit}`;
}
