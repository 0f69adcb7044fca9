import { relative, resolve } from 'node:path';
import { asSvcError, SvcError } from '../../../engine/core/base/errors.ts';
import { readProgram } from '../../../engine/core/base/run-program.ts';
import { formatLocalTime, toPrintable } from '../../../engine/core/base/text.ts';
import type { EngineClient, HeldPath, WireValue } from '../../../engine/index.ts';
import type { CommandContext } from '../../command.ts';

type Held = WireValue<HeldPath>;

/** How many paths an error names; the rest are counted. */
const NAMED = 5;
/** How many paths are checked in one call. */
const AT_ONCE = 2_000;

/**
 * Checks paths: a holder needs a valid lock on each; without a holder, a person asks, and no one else may hold any.
 * Throws `lock_denied`.
 */
export async function checkPaths(
  context: Pick<CommandContext, 'engine' | 'result' | 'cwd'>,
  paths: readonly string[],
  holder: string | undefined,
): Promise<number> {
  const client = await context.engine();
  if (holder === undefined) {
    // A path outside the workspace is a mistake here, but not among staged files.
    for (const path of paths) await client.call('lock.status', { path });
    refuseHeldPaths(context.cwd, await listHeldByOthers(client, paths, {}));
    context.result({ allowed: paths }, () => 'no one holds a lock here');
    return 0;
  }
  const allowed: { path: string; covered_by: string; expires_at: string }[] = [];
  const denied: SvcError[] = [];
  for (const path of paths) {
    try {
      allowed.push(await client.call('lock.check', { holder, path }));
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== 'lock_denied') throw error;
      denied.push(error);
    }
  }
  const [first] = denied;
  if (first !== undefined && denied.length === 1) throw first;
  if (first !== undefined) {
    throw new SvcError('lock_denied', denied.map(({ message }) => message).join('; '), {
      ...(first.hint === undefined ? {} : { hint: first.hint }),
      data: { denied: denied.map(({ data }) => data) },
    });
  }
  context.result({ allowed }, () =>
    allowed
      .map(
        (each) =>
          `${toPrintable(each.path)}: ${holder} holds ${toPrintable(each.covered_by)} until ${formatLocalTime(each.expires_at)}`,
      )
      .join('\n'),
  );
  return 0;
}

/** Errors after which the holders are unknown: no engine, no workspace, or a foreign one. */
const UNKNOWN = [
  ...['engine_not_running', 'engine_unreachable', 'engine_closing', 'no_workspace'],
  ...['data_folder_unknown', 'owner_untrusted', 'storage_unsafe'],
];

/** How long a commit waits for a hanging engine. */
const PATIENCE_MS = 10_000;

/**
 * Checks for the pre-commit hook that no one else has locked staged files. It starts no engine: without one it prints
 * a note and lets the commit pass, since locks guard against mistakes, not against people. Throws `lock_denied`.
 */
export async function checkStaged(context: CommandContext, holder: string | undefined): Promise<number> {
  const passWithNote = (why: string): number => {
    context.stderr.write(`svc: the locks were not checked: ${toPrintable(why)}\n`);
    context.result({ checked: false, reason: why, staged: 0 }, () => '');
    return 0;
  };
  try {
    const client = await context.engine({ start: false, patienceMs: PATIENCE_MS });
    const { locks } = await client.call('lock.status', {});
    const staged = locks.some((lock) => lock.holder !== holder) ? await listStagedFiles(context) : [];
    // A commit without a session belongs to the Chair, or to a person in that seat.
    const own = holder === undefined ? { except_own: true } : { except: holder };
    refuseHeldPaths(context.cwd, await listHeldByOthers(client, staged, own));
    context.result({ checked: true, reason: null, staged: staged.length }, () => '');
    return 0;
  } catch (error) {
    const { code, message } = asSvcError(error);
    if (!UNKNOWN.includes(code)) throw error;
    return passWithNote(message);
  }
}

async function listHeldByOthers(
  client: EngineClient,
  paths: readonly string[],
  except: { except?: string; except_own?: boolean },
): Promise<Held[]> {
  const held: Held[] = [];
  for (let from = 0; from < paths.length; from += AT_ONCE) {
    const some = paths.slice(from, from + AT_ONCE);
    held.push(...(await client.call('lock.over', { paths: some, ...except })));
  }
  return held;
}

function refuseHeldPaths(cwd: string, held: readonly Held[]): void {
  if (held.length === 0) return;
  const named = held.slice(0, NAMED).map(({ path, lock }) => {
    const way = relative(cwd, path) || '.';
    const over = way === lock.path ? '' : ` (lock on ${toPrintable(lock.path)})`;
    return `${toPrintable(way)} is held by ${lock.holder} until ${formatLocalTime(lock.expires_at)}${over}`;
  });
  const more = held.length > NAMED ? `; and ${held.length - NAMED} more` : '';
  throw new SvcError('lock_denied', `${named.join('; ')}${more}`, {
    hint: 'leave these paths alone until the lock is released or expires; svc lock list shows all locks',
    data: {
      denied: held.map(({ path, lock }) => ({
        path,
        held_by: lock.holder,
        expires_at: lock.expires_at,
        lock_path: lock.path,
      })),
    },
  });
}

/**
 * Lists the absolute paths that the commit would change, with both names of renamed files. Keeps the environment,
 * since in a hook it names the index that the commit is made from.
 */
async function listStagedFiles({ cwd, env }: Pick<CommandContext, 'cwd' | 'env'>): Promise<string[]> {
  try {
    const runIndexGit = (args: string[]) =>
      readProgram('git', args, { cwd, env, mostBytes: 256 * 1024 * 1024 });
    const top = (await runIndexGit(['rev-parse', '--show-toplevel'])).replace(/\n$/, '');
    const wanted = ['--cached', '--name-only', '-z', '--no-renames', '--no-relative', '--no-ext-diff'];
    const names = await runIndexGit(['diff', ...wanted]);
    return names
      .split('\0')
      .filter((path) => path !== '')
      .map((path) => resolve(top, path));
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT') throw new SvcError('tool_missing', 'git was not found on PATH', { cause: error });
    const said = (stderr ?? '').split('\n')[0]?.replace(/^(?:fatal|error): /, '') || 'git failed';
    throw new SvcError(/not a git repository/.test(said) ? 'not_a_repository' : 'git_failed', said, {
      cause: error,
    });
  }
}
