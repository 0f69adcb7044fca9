import { formatCount } from '../../core/base/text.ts';
import type { ExactFacts } from './graph-thread.ts';

/** Returns briefly why an answer lacks edges of the project's compiler; null if it has them, or none are available. */
export function describeLack({ files, lacking, run, running }: ExactFacts, isOn: boolean): string | null {
  if (files === 0) return null;
  if (!isOn) return 'off';
  if (lacking === 0) return null;
  if (running !== null) return `being made, ${running.done} of ${formatCount(running.total, 'file')}`;
  if (run === null) return 'not made yet';
  if (run.failed !== null) return run.version === '' ? run.failed : `failed: ${run.failed}`;
  return `stale: ${lacking} of ${formatCount(files, 'file')}`;
}
