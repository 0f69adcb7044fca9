import { SvcError } from '../../../engine/core/base/errors.ts';
import { quoteForShell } from '../../../engine/core/base/text.ts';
import {
  agentPrograms,
  type EngineClient,
  type ListedSession,
  remoteSessionError,
  type WireValue,
} from '../../../engine/index.ts';
import type { CommandContext } from '../../command.ts';
import { runInForeground } from '../../sessions/foreground.ts';
import { quoteWord } from '../../sessions/interactive.ts';

type Row = WireValue<ListedSession>;

/** How a session's agent is opened where it worked. */
interface AttachWish {
  /** The interactive command of its agent. */
  template: string;
  /** True if it is opened without the sandbox of its runs. */
  isOutside: boolean;
  /** True if it uses the login there, although its runs went through the gateway. */
  hasOwnLogin: boolean;
  /** True to print the command only. */
  isPrinted: boolean;
}

/** Finds the host of a session's machine. Throws `remote_session` if a terminal cannot be opened there. */
async function findHost(client: EngineClient, { session_id: sessionId, runner }: Row): Promise<string> {
  const machine = (await client.call('runner.list', {})).find(({ id }) => id === runner);
  if (machine?.transport === 'ssh') return machine.address;
  throw remoteSessionError({ sessionId, runner });
}

/**
 * Opens the agent of a session on its own machine, in its worktree and conversation there, over ssh. Its login shell
 * finds the agent. Returns the exit code.
 */
export async function attachThere(
  context: Pick<CommandContext, 'cwd' | 'env' | 'stdin' | 'result' | 'note'>,
  client: EngineClient,
  row: Row,
  { template, isOutside, hasOwnLogin, isPrinted }: AttachWish,
): Promise<number> {
  const { session_id: sessionId, cwd } = row;
  const host = await findHost(client, row);
  if (row.profile === 'strict' && !isOutside)
    throw new SvcError('usage', `${sessionId} ran in a sandbox on another machine`, {
      hint: '--outside opens its agent without one, in a new conversation',
    });
  if (row.auth === 'gateway' && !hasOwnLogin)
    throw new SvcError('usage', `${sessionId} ran through the gateway of this machine`, {
      hint: '--account opens its agent with the login there, in a new conversation',
    });
  if (cwd === null || typeof cwd === 'string') throw remoteSessionError({ sessionId, runner: row.runner });
  const { findPreset, renderCommand } = await agentPrograms();
  const { argv } = renderCommand(template, { notify_port: '' });
  const isSame = row.profile !== 'strict' && row.auth !== 'gateway' && row.agent_session !== null;
  const resumed = isSame ? findPreset(row.agent)?.resumeInteractive?.(argv, row.agent_session ?? '') : null;
  const line = `cd ${quoteWord(cwd.path)} && exec ${(resumed ?? argv).map(quoteWord).join(' ')}`;
  const words = ['ssh', '-t', host, `exec "$SHELL" -lic ${quoteForShell(line)}`];
  if (isPrinted) {
    context.result({ argv: words }, () => words.map(quoteWord).join(' '));
    return 0;
  }
  await client.call('worker.attach', { session: sessionId, pid: process.pid, account: true });
  context.note(
    `${sessionId} in ${cwd.path} on ${row.machine ?? host}${isSame ? '' : ', in a new conversation'}`,
  );
  try {
    return await runInForeground({
      argv: words,
      cwd: context.cwd,
      env: context.env,
      isTerminal: context.stdin.isTTY === true,
    });
  } finally {
    await client.call('worker.leave', { session: sessionId }).catch(() => undefined);
  }
}
