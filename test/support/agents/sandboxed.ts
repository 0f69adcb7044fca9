import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createConfinement } from '../../../engine/workers/runner/confine/index.ts';
import { createWorktrees, type FinishResult } from '../../../engine/workers/runner/worktrees/index.ts';
import { giveFolderTo, runAs, type TestUser } from '../hostile.ts';
import { makeRepository, type TestRepository } from '../workspaces/git.ts';

/** A user's repository, with a session's worktree in which tests can imitate strict workers without an engine. */
export interface Sandboxed {
  repository: TestRepository;
  root: string;
  worktree: string;
  home: string;
  /** Runs git in the checkout, optionally as another user. */
  git(...args: string[]): string;
  /** Runs a shell script as a strict worker of that user; returns stdout and stderr. */
  run(script: string): Promise<string>;
  /** Does what the engine does at the end of a run. */
  finish(): Promise<FinishResult>;
  /** Returns what the engine shows of the branch during the run. */
  patch(): Promise<string>;
}

interface Wish {
  root: string;
  home: string;
  act: 'run' | 'finish' | 'patch';
  script: string;
}

const SELF = fileURLToPath(import.meta.url);

export async function makeSandboxed(user: TestUser): Promise<Sandboxed> {
  const repository = makeRepository();
  const { root, folder } = repository;
  const worktree = join(root, '.svc', 'agents', 'worktrees', 's-1');
  const home = join(folder, 'person');
  for (const each of [join(root, '.svc', 'agents', 's-1'), join(home, '.config', 'svc')])
    mkdirSync(each, { recursive: true });
  writeFileSync(join(root, '.svc', 'svc.db'), 'private');
  writeFileSync(join(root, 'svc.yaml'), '');
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = A Person\n\temail = person@example.test\n');
  repository.git('worktree', 'add', '--quiet', '-b', 'svc/s-1', worktree);
  const baseCommit = repository.git('rev-parse', 'main');
  giveFolderTo(folder, user);
  chmodSync(folder, 0o755);
  const env = { PATH: process.env.PATH ?? '', HOME: home };
  async function act(what: Wish['act'], script: string): Promise<string> {
    const wish: Wish = { root, home, act: what, script };
    const { code, stdout, stderr } = await runAs(user, [process.execPath, SELF, JSON.stringify(wish)], {
      cwd: '/',
      env,
    });
    if (code !== 0) throw new Error(`${stdout}${stderr}`);
    return stdout;
  }
  return {
    repository,
    root,
    worktree,
    home,
    git: (...args) => repository.git('-c', 'safe.directory=*', ...args),
    run: (script) => act('run', script),
    finish: async () => JSON.parse(await act('finish', baseCommit)) as FinishResult,
    patch: () => act('patch', baseCommit),
  };
}

async function carryOut({ root, home, act, script }: Wish): Promise<void> {
  const data = join(root, '.svc');
  const agents = join(data, 'agents');
  const worktree = join(agents, 'worktrees', 's-1');
  const env = { PATH: process.env.PATH ?? '', HOME: home };
  if (act !== 'run') {
    const worktrees = createWorktrees({ env, agentsDir: agents });
    const about = { branch: 'svc/s-1', baseCommit: script, repository: root };
    const text =
      act === 'finish'
        ? JSON.stringify(
            await worktrees.finish({ ...about, path: worktree, message: 'svc: work in progress' }),
          )
        : (await (await worktrees.diffBranch(about)).patch(1024 * 1024)).text;
    return void process.stdout.write(text);
  }
  const confinement = createConfinement({
    env,
    root,
    configFile: join(root, 'svc.yaml'),
    paths: { data, db: join(data, 'svc.db'), socket: join(data, 's'), agents, worktrees: dirname(worktree) },
    machineHome: join(home, '.config', 'svc'),
    svc: null,
  });
  const [program = '', ...words] = await confinement.wrap({
    argv: ['/bin/sh', '-c', `exec 2>&1\n${script}`],
    cwd: worktree,
    env,
    worktree,
    sessionFolder: join(agents, 's-1'),
    seatFolder: null,
    home: null,
  });
  process.stdout.write(
    execFileSync(program, words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
  );
}

const [, , wish] = process.argv;
if (process.argv[1] === SELF && wish !== undefined) await carryOut(JSON.parse(wish) as Wish);
