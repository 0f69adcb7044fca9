import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';
import { runGit, temporaryFolder } from '../workspaces/git.ts';
import { AGENT, SVC } from '../workspaces/workspace.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** A person who has just installed svc: an empty home, `svc` on the path, and perhaps an agent. */
export interface Newcomer {
  env: NodeJS.ProcessEnv;
  /** An empty folder. */
  empty: string;
  /** A repository with one commit. */
  repository: string;
  /** Opens a shell command in a real terminal. */
  open(line: string, options: { cwd: string; env?: NodeJS.ProcessEnv; rows?: number }): Promise<Terminal>;
}

/** With this line claude ends a run. */
const RESULT = JSON.stringify({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'done',
  session_id: 'c-1',
});

/** @param agent whether `claude`, which is a scripted program, is installed */
export function makeNewcomer(t: TestContext, { agent = true }: { agent?: boolean } = {}): Newcomer {
  const folder = temporaryFolder('svc-newcomer-');
  const [bin, home, empty, repository] = ['bin', 'home', 'empty', 'shop'].map((name) => {
    const path = join(folder, name);
    mkdirSync(path);
    return path;
  }) as [string, string, string, string];
  writeProgram(join(bin, 'svc'), `exec '${process.execPath}' '${SVC}' "$@"`);
  if (agent)
    writeProgram(
      join(bin, 'claude'),
      // The prompt is on its standard input, and its output is a stream.
      `'${process.execPath}' '${AGENT}' - >&2 && echo '${RESULT}'`,
    );
  writeFileSync(join(home, '.gitconfig'), '[user]\nname = New Person\nemail = new@example.test\n');
  runGit(repository, 'init', '-q', '-b', 'main');
  writeFileSync(join(repository, 'README.md'), '# A shop\n');
  runGit(repository, 'add', '.');
  runGit(repository, 'commit', '-q', '-m', 'first');
  const env = { HOME: home, PATH: [bin, '/usr/bin', '/bin'].join(delimiter) };
  t.after(() => {
    const at = { cwd: repository, env, stdio: 'ignore' } as const;
    // Fails if the test has created no workspace.
    try {
      execFileSync(join(bin, 'svc'), ['down', '--stop-workers'], at);
    } catch {}
  });
  return {
    env,
    empty,
    repository,
    async open(line, options) {
      const terminal = await openTerminal({
        command: ['/bin/sh', '-c', line],
        columns: 80,
        rows: options.rows ?? 34,
        cwd: options.cwd,
        env: { ...env, ...options.env },
      });
      t.after(terminal.close);
      return terminal;
    },
  };
}

function writeProgram(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}
