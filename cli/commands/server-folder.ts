import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { pino } from 'pino';
import { linkedServer, SvcError } from '../../engine/index.ts';
import type { Context, FlagTable } from '../command.ts';

export const DATA_FLAG = {
  data: {
    type: 'string',
    value: 'dir',
    about: "the server's data folder (svc/server below the XDG data folder)",
  },
} as const satisfies FlagTable;

type Verb = Parameters<Awaited<ReturnType<typeof linkedServer>>['askRunningServer']>[1];
type Reached = Pick<Context, 'env' | 'cwd'>;

/** The server's data folder, made if it is missing. Throws `storage_failed`. */
export function openServerFolder(flag: string | undefined, { env, cwd }: Reached): string {
  const { XDG_DATA_HOME } = env;
  const base =
    XDG_DATA_HOME && isAbsolute(XDG_DATA_HOME)
      ? XDG_DATA_HOME
      : join(env.HOME ?? homedir(), '.local', 'share');
  const folder = flag === undefined ? join(base, 'svc', 'server') : resolve(cwd, flag);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new SvcError('storage_failed', `cannot make ${folder}: ${(error as NodeJS.ErrnoException).code}`, {
      cause: error,
    });
  }
  return folder;
}

/** Lets the server that runs on the folder do it, or does it without one. */
export async function administerServer(
  context: Reached & { flags: { data?: string | undefined } },
  verb: Verb,
  input: object,
): Promise<unknown> {
  const { administerClosed, askRunningServer, DEFAULT_ADDRESS } = await linkedServer();
  const folder = openServerFolder(context.flags.data, context);
  const asked = await askRunningServer(folder, verb, input);
  if (asked !== undefined) return asked.result;
  const log = pino({ enabled: false });
  return administerClosed({ folder, env: context.env, log }, `http://${DEFAULT_ADDRESS}`, verb, input);
}
