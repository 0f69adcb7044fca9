import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Block, findMissingLine } from '../document.ts';
import { findFreePort } from '../free-port.ts';
import { until } from '../wait.ts';
import { gitEnvironment, temporaryFolder } from '../workspaces/git.ts';
import { SVC } from '../workspaces/workspace.ts';

/** A reader who has just installed svc: a shell, and a home that contains only a git user name. */
export interface Reader {
  home: string;
  /** Replaces a program that is not available here. */
  install(name: string, script: string): void;
  /** Types the lines and returns their output. Throws if a command fails. */
  type(lines: string, at?: string): Promise<string>;
  /** Types the `sh` blocks in order and compares their output with the `text` block that follows. */
  follow(blocks: readonly Block[]): Promise<void>;
  /** The shell's current folder and exported variables. */
  look(): Promise<{ cwd: string; env: NodeJS.ProcessEnv }>;
}

interface ReaderOptions {
  env?: Record<string, string>;
  programs?: string;
  clones?: Record<string, string>;
}

/** Longer than any block takes; it only ends a test that would hang. */
const LONGEST_MS = 120_000;

/**
 * @param env additional exported variables
 * @param programs a folder of programs that this reader has installed
 * @param clones local repositories by the address that readers clone
 */
export async function openReader(
  t: TestContext,
  { env: more = {}, programs = '', clones = {} }: ReaderOptions = {},
): Promise<Reader> {
  const folder = temporaryFolder('svc-reader-');
  const home = join(folder, 'home');
  const bin = join(folder, 'bin');
  for (const path of [home, bin]) mkdirSync(path);
  const install: Reader['install'] = (name, script) =>
    writeFileSync(join(bin, name), script, { mode: 0o755 });
  const svc = `'${process.execPath}' '${SVC}'`;
  // Other readers and the developer's engine may use the default port.
  install(
    'svc',
    `#!/bin/sh
[ "$1" = init ] || exec ${svc} "$@"
${svc} "$@" && ${svc} config set ui.addr 127.0.0.1:${await findFreePort()} > /dev/null
`,
  );
  const instead = Object.entries(clones).map(([url, path]) => `[url "${path}"]\n\tinsteadOf = ${url}\n`);
  writeFileSync(
    join(home, '.gitconfig'),
    `[user]\n\tname = Ada Reader\n\temail = ada@example.test\n[init]\n\tdefaultBranch = main\n${instead.join('')}`,
  );
  const inherited = Object.entries(gitEnvironment()).filter(
    ([name]) => !/^(SVC_|XDG_|GIT_CONFIG_GLOBAL$|CI$|npm_)/.test(name),
  );
  const env = {
    ...Object.fromEntries(inherited),
    ...more,
    HOME: home,
    PATH: [bin, dirname(process.execPath), programs, process.env.PATH].filter(Boolean).join(delimiter),
  };
  const shell = spawn('bash', ['--noprofile', '--norc', '-e'], {
    cwd: home,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      output += text;
    });
  }
  let count = 0;

  const type: Reader['type'] = async (lines, at = 'the lines') => {
    count += 1;
    const script = join(folder, `block-${count}.sh`);
    writeFileSync(script, lines);
    const from = output.length;
    const mark = `«end of block ${count}»`;
    shell.stdin.write(`. '${script}' < /dev/null\nprintf '%s\\n' '${mark}'\n`);
    try {
      await until(() => output.includes(mark, from) || shell.exitCode !== null, `its end`, LONGEST_MS);
    } catch (error) {
      throw new Error(`${at}: ${(error as Error).message}, after:\n${output.slice(from)}`);
    }
    const printed = output.slice(from);
    if (!printed.includes(mark)) throw new Error(`${at} failed:\n${printed}`);
    return printed.slice(0, printed.indexOf(mark));
  };

  t.after(async () => {
    shell.stdin.end();
    if (shell.exitCode === null) await once(shell, 'exit');
    for (const file of globSync('{*,*/*,*/*/*}/svc.yaml', { cwd: home }))
      spawnSync(process.execPath, [SVC, 'down', '--stop-workers'], {
        cwd: dirname(join(home, file)),
        env,
      });
    await until(() => findProcessesOf(home).length === 0, `the end of ${findProcessesOf(home)}`);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    home,
    install,
    type,
    async follow(blocks) {
      let printed = '';
      for (const block of blocks) {
        if (block.language === 'sh') printed = await type(block.text, block.at);
        if (block.language !== 'text') continue;
        const missing = findMissingLine(block.text, printed);
        assert.equal(missing, null, `${block.at} differs from the output:\n${printed}`);
      }
    },
    async look() {
      const words = (await type('env -0')).split('\0').map((each) => each.split(/=(.*)/s, 2));
      const shown: NodeJS.ProcessEnv = Object.fromEntries(words.filter(([name]) => /^\w+$/.test(name ?? '')));
      return { cwd: shown.PWD ?? home, env: shown };
    },
  };
}

/** Returns the processes that run with this home, such as an engine: pid and command. */
function findProcessesOf(home: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const isOf = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(`HOME=${home}`);
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return isOf && command !== '' ? [`${name} ${command}`] : [];
      } catch {
        return [];
      }
    });
}
