import { SvcError } from '../../core/base/errors.ts';

/** Errors made here; the other end cannot send one. */
const lostErrors = new WeakSet<object>();

/** Creates the error of everything that was open when a link ended. */
export function linkLostError(reason: SvcError | null): SvcError {
  const why = reason === null ? 'it was closed here' : reason.message;
  const error = new SvcError('runner_unreachable', `the link to the other machine ended: ${why}`, {
    ...(reason?.hint === undefined ? {} : { hint: reason.hint }),
    cause: reason ?? undefined,
  });
  lostErrors.add(error);
  return error;
}

/** Reports whether a call or stream failed because its link ended: the other end may or may not have done the work. */
export const isLinkLost = (thrown: unknown): boolean =>
  typeof thrown === 'object' && thrown !== null && lostErrors.has(thrown);
