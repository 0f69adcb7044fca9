import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { asSvcError, SvcError } from '../../../core/base/errors.ts';
import { makePrivateFolder } from '../../../core/base/private-files.ts';
import { settleWithin } from '../../../core/base/settle-within.ts';
import { appendLogNote, runCommands } from './commands.ts';
import { buildSetupEnvironment, type SetupDeps, sessionLog, type TornDown } from './deps.ts';
import { leadsInto } from './leads-into.ts';
import { requireConsent } from './projects.ts';

const TEARDOWN_MS = 60_000;

/** Runs the teardown commands in a session's worktree. Never throws; returns the problems. */
export async function runTeardown(
  deps: SetupDeps,
  { session, placement, setup }: TornDown,
  { worktree, teardowns, signal }: { worktree: string; teardowns: string; signal: AbortSignal },
): Promise<string[]> {
  const { processes, agentsDir } = deps;
  const { sessionId } = session;
  const { cwd, port } = placement;
  const logFile = sessionLog(agentsDir, sessionId);
  const runId = randomUUID();
  const folder = join(teardowns, runId);
  try {
    requireConsent(setup);
    if (setup.teardown.length === 0 || !existsSync(cwd)) return [];
    if (!leadsInto(worktree, cwd)) throw new SvcError('path_outside', `${cwd} leads out of the worktree`);
    makePrivateFolder(agentsDir, join(agentsDir, sessionId));
    const env = buildSetupEnvironment(deps, { ...session, port });
    const failed = await runCommands(
      processes,
      {
        what: 'teardown',
        commands: setup.teardown,
        cwd,
        env,
        runId,
        folder,
        logFile,
        // The contents are the agent's work.
        confine: (argv) => deps.confine({ ...session, worktree }, { argv, cwd, env }),
        isConfined: session.profile === 'strict',
      },
      {
        mayContinue: () => !signal.aborted,
        async waitForEnd(running) {
          const exit = await settleWithin(deps.teardownMs ?? TEARDOWN_MS, running.exited, signal);
          if (exit === null) await processes.stop({ ...running, runId }, { graceMs: deps.graceMs });
          return exit;
        },
      },
    );
    return failed === null ? [] : [`teardown of ${sessionId}: ${failed}`];
  } catch (thrown) {
    const { code, message } = asSvcError(thrown);
    if (existsSync(logFile)) appendLogNote(logFile, 'teardown', `${nameFailure(code)}: ${message}`);
    return [describeTeardownFailure(sessionId, thrown)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const nameFailure = (code: string): string => (code === 'consent_missing' ? 'was skipped' : 'failed');

/** Describes why the teardown of a session was not run, as a sentence. */
export function describeTeardownFailure(sessionId: string, thrown: unknown): string {
  const { code, message, hint } = asSvcError(thrown);
  return `teardown of ${sessionId} ${nameFailure(code)}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
}
