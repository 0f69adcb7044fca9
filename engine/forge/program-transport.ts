import { asSvcError, SvcError } from '../core/base/errors.ts';
import type { ProgramEnd } from '../core/base/read-program-end.ts';
import type { ProgramResult } from '../core/base/run-program.ts';
import { toPrintable } from '../core/base/text.ts';
import { readForgeAnswer } from './read-answer.ts';
import type { ForgeTransport } from './requests.ts';

/** Runs a program of the person, who is logged in to the code host with it. */
export type RunForgeProgram = (program: string, args: readonly string[]) => Promise<ProgramResult>;

/** The programs of the person, for requests to a code host. */
export interface ForgePrograms {
  run: RunForgeProgram;
  /** Runs a program whose output may be of any size. */
  readEnd(program: string, args: readonly string[]): Promise<ProgramEnd>;
}

/** The names of a code host, of the person's program for it, and of that program's commands. */
export interface ForgeNames {
  host: string;
  program: string;
  login: string;
  status: string;
}

/** Returns the hints after a refusal. */
export const listHints = ({ login, status }: ForgeNames): ForgeTransport['hints'] => ({
  login,
  check: `check the name of the repository, and what ${status} says`,
});

/** Explains why a program has printed no answer. */
export function explainSilence(
  { host, program, login }: ForgeNames,
  { exitCode, stderr, error }: Pick<ProgramResult, 'exitCode' | 'stderr' | 'error'>,
): SvcError {
  if (error?.code === 'ENOENT')
    return new SvcError('tool_missing', `${program} is not installed, or not in the PATH of the engine`, {
      hint: `install it, log in with ${login}, then restart the engine`,
    });
  // https://cli.github.com/manual/gh_help_exit-codes
  if (exitCode === 4)
    return new SvcError('program_failed', `${program} is not logged in`, { hint: `${login}, as this user` });
  // A wrong option is followed by all options.
  const [said = ''] = stderr.trim().split('\n');
  const text = toPrintable(said || asSvcError(error).message).slice(0, 300);
  return new SvcError('program_failed', `${program} could not ask ${host}: ${text}`);
}

/**
 * Carries requests by `gh api` or `glab api`, which take the same options.
 * @param host another host than that of the person's settings; null for that one
 */
export function createProgramTransport(
  names: ForgeNames,
  { run, readEnd }: ForgePrograms,
  host: string | null,
): ForgeTransport {
  const { program } = names;
  const api = ['api', ...(host === null ? [] : [`--hostname=${host}`])];
  return {
    host: names.host,
    hints: listHints(names),
    async send({ method, path, headers, fields }) {
      const result = await run(program, [
        ...api,
        '--include',
        `--method=${method}`,
        ...headers.map((each) => `--header=${each}`),
        ...Object.entries(fields).map(([name, value]) => `--raw-field=${name}=${value}`),
        '--',
        path,
      ]);
      const answer = readForgeAnswer(result.stdout);
      if (answer === null) throw explainSilence(names, result);
      return answer;
    },
    async readText(path) {
      const end = await readEnd(program, [...api, '--', path]);
      if (end.exitCode !== 0) throw explainSilence(names, end);
      return { text: end.text, omittedBytes: end.omittedBytes };
    },
  };
}
