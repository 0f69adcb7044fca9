import { asSvcError, SvcError } from '../core/base/errors.ts';
import type { ProgramEnd } from '../core/base/read-program-end.ts';
import type { ProgramResult } from '../core/base/run-program.ts';
import { toPrintable } from '../core/base/text.ts';
import { type ForgeAnswer, readForgeAnswer, readForgeMessage, readRateLimit } from './read-answer.ts';

/** Runs a program of the person, who is logged in to the code host with it. */
export type RunForgeProgram = (program: string, args: readonly string[]) => Promise<ProgramResult>;

/** The programs of the person, for requests to a code host. */
export interface ForgePrograms {
  run: RunForgeProgram;
  /** Runs a program whose output may be of any size. */
  readEnd(program: string, args: readonly string[]): Promise<ProgramEnd>;
}

/** Asks GitHub by `gh api`. */
export interface Forge {
  /**
   * Returns the answer to a GET request; null if it is still the one of `tag`. Throws `tool_missing` and
   * `program_failed`; after a rate limit with the pause that the host asks for, `data.retry_after_s`.
   */
  get(path: string, tag?: string | null): Promise<ForgeAnswer | null>;
  /** Reads the end of a text of any size, such as a log. Throws `tool_missing` and `program_failed`. */
  readText(path: string): Promise<{ text: string; omittedBytes: number }>;
}

const HEADERS = ['Accept: application/vnd.github+json', 'X-GitHub-Api-Version: 2022-11-28'];

/** @param host another host than that of the person's settings; null for that one */
export function createGithub(
  { run, readEnd }: ForgePrograms,
  now: () => number,
  host: string | null = null,
): Forge {
  const api = ['api', ...(host === null ? [] : [`--hostname=${host}`])];
  return {
    async readText(path) {
      const { exitCode, text, omittedBytes, stderr, error } = await readEnd('gh', [...api, '--', path]);
      if (exitCode === 0) return { text, omittedBytes };
      throw explainSilence({ exitCode, stdout: '', stderr, error });
    },
    async get(path, tag = null) {
      const headers = [...HEADERS, ...(tag === null ? [] : [`If-None-Match: ${tag}`])];
      const result = await run('gh', [
        ...api,
        '--include',
        '--method=GET',
        ...headers.map((each) => `--header=${each}`),
        '--',
        path,
      ]);
      const answer = readForgeAnswer(result.stdout);
      if (answer === null) throw explainSilence(result);
      if (answer.status === 304) return null;
      if (answer.status >= 200 && answer.status < 300 && answer.body !== undefined) return answer;
      const pauseMs = readRateLimit(answer, now());
      const said = toPrintable(readForgeMessage(answer) ?? `HTTP ${answer.status}`).slice(0, 300);
      if (pauseMs !== null)
        throw new SvcError('program_failed', `GitHub limits the requests: ${said}`, {
          data: { retry_after_s: pauseMs / 1000 },
        });
      if (answer.status >= 500 || answer.status < 400)
        throw new SvcError('program_failed', `GitHub answered with status ${answer.status}: ${said}`);
      throw new SvcError('program_failed', `GitHub refused ${path.split('?')[0]}: ${said}`, {
        hint:
          answer.status === 401
            ? 'gh auth login logs in again'
            : 'check the name of the repository, and what gh auth status says',
        data: { status: answer.status },
      });
    },
  };
}

/** Explains why a program has printed no answer. */
function explainSilence({ exitCode, stderr, error }: ProgramResult): SvcError {
  if (error?.code === 'ENOENT')
    return new SvcError('tool_missing', 'gh is not installed, or not in the PATH of the engine', {
      hint: 'install it, log in with gh auth login, then restart the engine',
    });
  // https://cli.github.com/manual/gh_help_exit-codes
  if (exitCode === 4)
    return new SvcError('program_failed', 'gh is not logged in', { hint: 'gh auth login, as this user' });
  // A wrong option is followed by all options.
  const [said = ''] = stderr.trim().split('\n');
  const text = toPrintable(said || asSvcError(error).message).slice(0, 300);
  return new SvcError('program_failed', `gh could not ask GitHub: ${text}`);
}
