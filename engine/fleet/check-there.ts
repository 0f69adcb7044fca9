import type { Clock } from '../core/base/clock.ts';
import { SvcError } from '../core/base/errors.ts';
import { toPrintable } from '../core/base/text.ts';
import type { CheckedWork, CommandEnd, CommandsRun } from '../workers/runner/checks/index.ts';
import type { Transfers } from '../workers/runner/worktrees/transfer/index.ts';
import type { MachineConnection } from './machine-connection.ts';
import { checkReport } from './messages.ts';
import { sendBase } from './send-base.ts';
import { stripSetup } from './strip-setup.ts';

/** How long a machine may be silent before its check is given up, ms. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 5000;

/**
 * Runs commands in a clean checkout of a session's work on another machine; again, if the connection is lost during
 * that. Throws as `WorkChecks.check` does, and `runner_unreachable`, `trust_missing`, `bundle_refused`, `answer_invalid`.
 */
export async function checkThere(
  connection: MachineConnection,
  { transfers, clock }: { transfers: Transfers; clock: Pick<Clock, 'now'> },
  work: CheckedWork & { setup: NonNullable<CheckedWork['setup']> },
  { commands, mark, timeoutMs, signal, progress }: CommandsRun,
): Promise<CommandEnd[]> {
  const { repository: folder, commit, inside, session } = work;
  const { sessionId, taskId, project, profile } = session;
  const { name } = connection.record;
  const givingUp = new AbortController();
  // The next rerun waits for this one.
  const watch = setInterval(() => {
    const { state, since } = connection.readState();
    if (state === 'silent' && clock.now() - since > PATIENCE_MS) givingUp.abort();
  }, LOOK_MS).unref();
  try {
    const repository = await transfers.identifyRepository(folder, commit);
    await sendBase(connection, transfers, { folder, repository, commit });
    const order = {
      ...{ mark, repository, commit, inside, commands, timeoutMs, setup: stripSetup(work.setup) },
      session: { sessionId, taskId, project, profile },
    };
    const ends = await connection.call('check', order, {
      signal: AbortSignal.any([signal, givingUp.signal]),
      onReport(report) {
        const { success, data } = checkReport.safeParse(report);
        if (success) progress(toPrintable(data.progress));
      },
    });
    if (ends.length === commands.length) return ends;
    throw new SvcError('answer_invalid', `${name} has run other commands than ordered`);
  } catch (error) {
    if (!givingUp.signal.aborted) throw error;
    throw new SvcError('runner_unreachable', `${name} became silent while it checked the work`, {
      cause: error,
    });
  } finally {
    clearInterval(watch);
  }
}
