import { SvcError } from '../core/base/errors.ts';
import { explainSilence, type ForgeNames, type ForgePrograms, listHints } from './program-transport.ts';
import { readForgeAnswer } from './read-answer.ts';
import type { ForgeTransport } from './requests.ts';

/** Finds the name of a login of tea by its host, in the table that `tea logins list` prints; null for none. */
function findLogin(table: string, host: string): string | null {
  const [head = [], ...rows] = table.split('\n').map((line) => line.trimEnd().split('\t'));
  const column = (name: string): number => head.findIndex((each) => each.toLowerCase() === name);
  const found = rows.filter((row) => {
    const url = row[column('url')] ?? '';
    return URL.canParse(url) && new URL(url).host === host;
  });
  const usual = found.find((row) => row[column('default')] === 'true') ?? found[0];
  return usual?.[column('name')] ?? null;
}

/** Puts the status line and headers, which `tea api --include` prints as errors, before the body. */
function joinAnswer(stdout: string, stderr: string): string {
  const head = /^HTTP\/[\d.]+ \d{3}\b.*?\n\r?\n/ms.exec(stderr)?.[0] ?? '';
  return `${head}${stdout}`;
}

/** Carries requests by `tea api`, with the person's login at that host. */
export function createTeaTransport(
  names: ForgeNames,
  { run, readEnd }: ForgePrograms,
  host: string,
): ForgeTransport {
  const { program } = names;
  let login: Promise<string> | null = null;

  /** tea would ask another host if no login is named. */
  async function requireLogin(): Promise<string> {
    const result = await run(program, ['logins', 'list', '--output=tsv']);
    if (result.exitCode !== 0) throw explainSilence(names, result);
    const found = findLogin(result.stdout, host);
    if (found !== null) return found;
    throw new SvcError('program_failed', `${program} is not logged in to ${host}`, {
      hint: `${names.login}, as this user`,
    });
  }

  async function listArguments(): Promise<string[]> {
    login ??= requireLogin();
    return ['api', `--login=${await login}`, '--include'];
  }

  return {
    host: names.host,
    hints: listHints(names),
    async send({ method, path, headers, fields }) {
      const result = await run(program, [
        ...(await listArguments()),
        `--method=${method}`,
        ...headers.map((each) => `--header=${each}`),
        ...Object.entries(fields).map(([name, value]) => `--field=${name}=${value}`),
        '--',
        path,
      ]);
      const answer = readForgeAnswer(joinAnswer(result.stdout, result.stderr));
      if (answer === null) throw explainSilence(names, result);
      return answer;
    },
    async readText(path) {
      const end = await readEnd(program, [...(await listArguments()), '--', path]);
      const status = readForgeAnswer(joinAnswer('', end.stderr))?.status;
      if (status === undefined) throw explainSilence(names, end);
      if (status === 200) return { text: end.text, omittedBytes: end.omittedBytes };
      throw new SvcError('program_failed', `${names.host} answered with status ${status}`);
    },
  };
}
