import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import { NO_FACTS } from '../workers/agents/index.ts';
import type { MachineRunner } from '../workers/runner/runs/index.ts';

/** Stands for a machine that was removed or cut off: nothing can be ordered there, and its runs count as ended. */
export function createGoneRunner(why: string): MachineRunner {
  const refuse = async (): Promise<never> => {
    throw new SvcError('no_runner', why, { hint: sentence`{runner.list} lists the machines` });
  };
  const exit = { code: null, signal: null };
  return {
    place: refuse,
    prepare: refuse,
    start: refuse,
    adopt: async () => ({ state: 'ended', exit }),
    watch: async () => exit,
    stop: async () => undefined,
    collect: async () => ({ facts: NO_FACTS, hasSpoken: true, hasLostSession: false }),
    keep: refuse,
    discard: async () => undefined,
    clear: async () => [],
  };
}
