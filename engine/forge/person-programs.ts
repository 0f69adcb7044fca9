import { SvcError } from '../core/base/errors.ts';
import { readProgramEnd } from '../core/base/read-program-end.ts';
import { toPrintable } from '../core/base/text.ts';

/** A code host may be slow, and a push long; a program that waits for a password is ended. */
const TIMEOUT_MS = 120_000;
const MOST_BYTES = 1024 * 1024;

/** A repository, with the settings of git that override what a worker may have changed. */
interface OwnRepository {
  repository: string;
  settings: readonly (readonly string[])[];
}

/** Returns the person's environment with git settings that override all files. */
function withSettings(env: NodeJS.ProcessEnv, settings: OwnRepository['settings']): NodeJS.ProcessEnv {
  const all = [...settings, ['core.hooksPath', '/dev/null'], ['protocol.ext.allow', 'never']];
  const from = Number(env.GIT_CONFIG_COUNT ?? 0) || 0;
  return {
    ...env,
    GIT_CONFIG_COUNT: String(from + all.length),
    ...Object.fromEntries(
      all.flatMap(([name = '', value = ''], at) => [
        [`GIT_CONFIG_KEY_${from + at}`, name],
        [`GIT_CONFIG_VALUE_${from + at}`, value],
      ]),
    ),
  };
}

/**
 * Runs a person's program in the repository, with their environment and git settings, and returns its output. Throws
 * `program_failed` with its output, `tool_missing`.
 */
export async function runPersonProgram(
  { env }: { env: NodeJS.ProcessEnv },
  { repository, settings }: OwnRepository,
  program: string,
  args: readonly string[],
): Promise<string> {
  const {
    exitCode,
    text: stdout,
    stderr,
    error,
  } = await readProgramEnd(program, args, {
    cwd: repository,
    env: withSettings(env, settings),
    timeoutMs: TIMEOUT_MS,
    mostBytes: MOST_BYTES,
  });
  if (exitCode === 0) return `${stdout}\n${stderr}`;
  if (error !== null && 'code' in error && error.code === 'ENOENT')
    throw new SvcError('tool_missing', `${program} is not installed here`);
  const said = toPrintable((stderr.trim() || stdout.trim() || error?.message) ?? '', { lines: true });
  const how = exitCode === null ? `was stopped after ${TIMEOUT_MS / 1000} s` : `exited with code ${exitCode}`;
  throw new SvcError(
    'program_failed',
    `${program} ${args.find((arg) => /^[a-z]/.test(arg) && !arg.includes('=')) ?? ''} ${how}: ${said}`,
    { data: { exit_code: exitCode, printed: `${stdout}\n${stderr}` } },
  );
}
