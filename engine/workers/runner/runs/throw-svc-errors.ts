import { asSvcError, type SvcError } from '../../../core/base/errors.ts';
import { toStorageError } from '../../../storage/index.ts';

/** Errors of the file system about its space and rights; others are faults of ours. */
const STORAGE = /^(?:ENOSPC|EDQUOT|EACCES|EPERM|EROFS)$/;

function toRunnerError(thrown: unknown): SvcError {
  const { code, path } = (thrown ?? {}) as NodeJS.ErrnoException;
  return STORAGE.test(code ?? '')
    ? toStorageError(thrown, `cannot use ${path ?? 'a file of the run'}`)
    : asSvcError(thrown);
}

/** Makes every call of a runner reject with an `SvcError`, which crosses to another machine as data. */
export function throwSvcErrors<R extends object>(runner: R): R {
  const methods = Object.entries(runner as Record<string, (...args: unknown[]) => Promise<unknown>>);
  const guarded = methods.map(([name, method]) => [
    name,
    async (...args: unknown[]) => {
      try {
        return await method(...args);
      } catch (thrown) {
        throw toRunnerError(thrown);
      }
    },
  ]);
  return Object.fromEntries(guarded) as R;
}
