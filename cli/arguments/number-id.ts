import { SvcError } from '../../engine/core/base/errors.ts';

/** Parses an id without a letter, such as a message id. Throws `not_found`, with the command that lists them. */
export function parseNumberId(text: string | undefined, what: string, list: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new SvcError('not_found', `no ${what} ${JSON.stringify(text ?? '')}`, {
    hint: `${list} shows their numbers`,
  });
}
