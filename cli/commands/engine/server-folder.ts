import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { pino } from 'pino';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { linkedServer } from '../../../engine/index.ts';
import type { CommandContext, FlagTable } from '../../command.ts';

export const DATA_FLAG = {
  data: {
    type: 'string',
    value: 'dir',
    about: "the server's data folder (svc/server below the XDG data folder)",
  },
} as const satisfies FlagTable;

type Verb = Parameters<Awaited<ReturnType<typeof linkedServer>>['askRunningServer']>[1];
type Reached = Pick<CommandContext, 'env' | 'cwd'>;

/** Commands that can come first on a new server; all others need an existing one. */
const MAKES_SERVER: readonly Verb[] = ['person.add', 'account.add', 'plan.set', 'chat.set', 'token.metrics'];
const INVITES: readonly Verb[] = ['person.add', 'person.invite', 'person.reset'];

export function nameServerFolder(flag: string | undefined, { env, cwd }: Reached): string {
  // Such as --data "$UNSET": a server would be created in the current folder.
  if (flag === '') throw new SvcError('usage', '--data is empty', { hint: 'leave it out, or name a folder' });
  const { XDG_DATA_HOME } = env;
  const base =
    XDG_DATA_HOME && isAbsolute(XDG_DATA_HOME)
      ? XDG_DATA_HOME
      : join(env.HOME ?? homedir(), '.local', 'share');
  return flag === undefined ? join(base, 'svc', 'server') : resolve(cwd, flag);
}

/** Returns the server's data folder, created if it is missing. Throws `usage`, `storage_failed`. */
export function openServerFolder(flag: string | undefined, reached: Reached): string {
  const folder = nameServerFolder(flag, reached);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new SvcError('storage_failed', `cannot make ${folder}: ${(error as NodeJS.ErrnoException).code}`, {
      cause: error,
    });
  }
  return folder;
}

/** Returns the data folder of an existing server. Throws `usage`, `not_found`. */
export function findServerFolder(flag: string | undefined, reached: Reached): string {
  const folder = nameServerFolder(flag, reached);
  const isThere =
    existsSync(join(folder, 'server.db')) || (existsSync(folder) && (reached.env.DATABASE_URL ?? '') !== '');
  if (isThere) return folder;
  throw new SvcError('not_found', `there is no server in ${folder}`, {
    hint: '--data names its folder; svc server serve makes a new one',
  });
}

/** Lets the server that runs on the folder do it, or does it without one. */
export async function administerServer(
  context: Pick<CommandContext, 'env' | 'cwd' | 'note'> & { flags: { data?: string | undefined } },
  verb: Verb,
  input: object,
): Promise<unknown> {
  const { administerClosed, askRunningServer, DEFAULT_ADDRESS } = await linkedServer();
  const findFolder = MAKES_SERVER.includes(verb) ? openServerFolder : findServerFolder;
  const folder = findFolder(context.flags.data, context);
  const asked = await askRunningServer(folder, verb, input);
  if (asked !== undefined) return asked.result;
  const options = {
    folder,
    env: context.env,
    log: pino({ enabled: false }),
    tellNewSecret: (file: string) => context.note(`a root secret was created; back up this file: ${file}`),
  };
  const { result, isGuessed } = await administerClosed(options, `http://${DEFAULT_ADDRESS}`, verb, input);
  if (isGuessed && INVITES.includes(verb))
    context.note('no server has run here yet: with --public-url it has that address instead');
  return result;
}
