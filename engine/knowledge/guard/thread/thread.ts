import { locateProgram } from '../../../core/base/own-package.ts';
import { createThreadClient, type ThreadClient } from '../../../core/base/thread-calls.ts';
import type { GuardCalls, GuardThreadSettings } from './messages.ts';

/** The thread that compares code; rejects with `internal` after it failed, for every call in progress. */
export type GuardThread = ThreadClient<GuardCalls>;

export const createGuardThread = (settings: () => GuardThreadSettings): GuardThread =>
  createThreadClient({
    program: locateProgram('guard-thread'),
    name: 'the comparison of code',
    idleMs: 10 * 60_000,
    closingMs: 1000,
    limits: { maxOldGenerationSizeMb: 256 },
    settings,
  });
