import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { asSvcError, SvcError } from '../../../engine/core/base/errors.ts';
import type { CommandContext } from '../../command.ts';

/** Names the file as git does, so that editors know what it is. */
const FILE = 'COMMIT_EDITMSG';

/** Refuses to edit without a terminal. Throws `usage`. */
export function requireEditingTerminal({ stdin, stdout }: Pick<CommandContext, 'stdin' | 'stdout'>): void {
  if (!stdin.isTTY || !stdout.isTTY)
    throw new SvcError('usage', 'no terminal is available to edit on', {
      hint: '--message gives the message without an editor',
    });
}

/**
 * Finds the editor of commit messages in the order of git. The configuration of a repository does not count, because
 * a worker may have changed it.
 */
async function findMessageEditor(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (env.GIT_EDITOR) return env.GIT_EDITOR;
  const asked = promisify(execFile)('git', ['config', '--global', '--includes', '--get', 'core.editor'], {
    env,
    cwd: '/',
  });
  const configured = await asked.then(({ stdout }) => stdout.trim()).catch(() => '');
  return configured || undefined;
}

/** Lets the person edit a message; empty for none. Throws `tool_missing` if the editor fails. */
export async function editMessage(message: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { editText } = await import('../../../tui/editor.ts');
  return (await editText(message, FILE, env, await findMessageEditor(env))).trim();
}

/** Saves an edited message when its use fails, so that it is not lost. */
export async function orKeepMessage<T>(message: string, work: Promise<T>): Promise<T> {
  return work.catch(async (thrown: unknown) => {
    const { code, message: why, hint, data } = asSvcError(thrown);
    const { keepText } = await import('../../../tui/editor.ts');
    const kept = `your message is saved in ${keepText(message, FILE)}`;
    throw new SvcError(code, why, {
      cause: thrown,
      data,
      hint: hint === undefined ? kept : `${kept}; ${hint}`,
    });
  });
}
