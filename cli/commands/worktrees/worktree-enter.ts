import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { isInsideFolder } from '../../../engine/core/base/paths.ts';
import { type Api, findLocalPath, findWorkspace, remoteSessionError } from '../../../engine/index.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { runInForeground } from '../../sessions/foreground.ts';
import { defineSessionArgument } from '../../sessions/session-argument.ts';
import { listEditorArguments } from './editor-arguments.ts';

type SessionView = Api['session.show']['output'];

/** Returns the folder of a session's work. Throws `conflict` if there is none. */
async function findFolder(
  context: Pick<CommandContext, 'engine' | 'arg'>,
): Promise<{ row: SessionView; folder: string }> {
  const client = await context.engine();
  const row = await client.call('session.show', { session: context.arg(0) });
  if (row.runner !== null) throw remoteSessionError({ sessionId: row.session_id, runner: row.runner });
  const folder = findLocalPath(row.inplace ? row.cwd : row.worktree);
  if (folder !== null && existsSync(folder)) return { row, folder };
  throw new SvcError(
    'conflict',
    `the worktree of ${row.session_id} is ${folder === null && row.state !== 'ended' ? 'not there yet' : 'no longer there'}`,
    {
      hint: 'svc worktree list shows the existing ones',
    },
  );
}

/** Warns a person who enters a place where a worker has been. */
function noteEntering(
  { note }: Pick<CommandContext, 'note'>,
  { session_id: id, state, profile }: SessionView,
): void {
  if (state !== 'ended') note(`${id} is ${state}: its agent may be writing here`);
  if (profile === 'strict')
    note('outside its sandbox: anything the worker left there can do all that you can');
}

/** A worktree has its own svc.yaml, which is not the one that svc works with. */
const buildVisitEnvironment = (
  { cwd, env }: Pick<CommandContext, 'cwd' | 'env'>,
  { port }: Pick<SessionView, 'port'>,
): NodeJS.ProcessEnv => ({
  ...env,
  SVC_CONFIG: findWorkspace({ cwd, env }).file,
  ...(port === null ? {} : { SVC_PORT: String(port) }),
});

export const shell = defineCommand({
  name: 'worktree shell',
  about: 'open a shell in the worktree of a session; while it is open, nothing removes the worktree',
  args: defineSessionArgument('session'),
  examples: ['worktree shell s-12'],
  async run(context) {
    const { env, stdin, note } = context;
    const { row, folder } = await findFolder(context);
    noteEntering(context, row);
    note(`${row.session_id}${row.branch === null ? '' : ` on ${row.branch}`} in ${folder}; exit returns`);
    const program = env.SHELL || '/bin/sh';
    await runInForeground({
      argv: [program],
      cwd: folder,
      env: buildVisitEnvironment(context, row),
      isTerminal: stdin.isTTY === true,
    });
    // The exit code of a shell's last command says nothing about the shell.
    return 0;
  },
});

/** Splits `src/a.ts:12`; without a number at its end, everything is the path. */
function parseEditPlace(text: string): { path: string; line: number | null } {
  const [, path = text, line] = /^(.+):([1-9]\d{0,8})$/s.exec(text) ?? [];
  return { path, line: line === undefined ? null : Number(line) };
}

/** Resolves the file in the worktree, never outside of it through links. Throws `not_found`, `usage`. */
function findFile(folder: string, path: string): string {
  const top = realpathSync(folder);
  const file = join(top, path);
  if (!isInsideFolder(top, file)) throw new SvcError('usage', `${path} is not in ${folder}`);
  if (!existsSync(file))
    throw new SvcError('not_found', `there is no ${path} in ${folder}`, {
      hint: 'it may have been removed since the diff was shown',
    });
  if (!isInsideFolder(top, realpathSync(file)))
    throw new SvcError('usage', `${path} is a link that leads out of ${folder}`);
  return file;
}

export const edit = defineCommand({
  name: 'worktree edit',
  about: 'open $VISUAL or $EDITOR in the worktree of a session, at a line of a file or in its folder',
  args: [
    ...defineSessionArgument('session'),
    { name: 'place', about: 'file, or file and line: src/a.ts:12', optional: true },
  ],
  examples: ['worktree edit s-12 src/a.ts:12', 'worktree edit s-12'],
  async run(context) {
    const { args, env, stdin } = context;
    const { row, folder } = await findFolder(context);
    const editor = env.VISUAL || env.EDITOR || 'vi';
    const { path, line } = parseEditPlace(args[1] ?? '.');
    // A file name may end with a colon and a number.
    const isWhole = line !== null && existsSync(join(folder, args[1]!));
    const file = findFile(folder, isWhole ? args[1]! : path);
    noteEntering(context, row);
    // The variable may contain arguments, hence the shell.
    return runInForeground({
      argv: [
        '/bin/sh',
        '-c',
        `exec ${editor} "$@"`,
        'svc',
        ...(line === null || isWhole ? [file] : listEditorArguments(editor, file, line)),
      ],
      cwd: folder,
      env: buildVisitEnvironment(context, row),
      isTerminal: stdin.isTTY === true,
    });
  },
});
