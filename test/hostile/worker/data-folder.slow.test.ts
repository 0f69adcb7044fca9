import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ended, impossible, logOf, makeStrict, openHere, started } from '../../support/agents/strict.ts';
import { hostile } from '../../support/hostile.ts';
import { requireLocalPath } from '../../support/workspaces/local-path.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

const codeOf = ({ stdout }: { stdout: string }): string =>
  (JSON.parse(stdout) as { error: { code: string } }).error.code;

/** A person or the engine runs svc in the worktree, which looks like a workspace because of its copy of svc.yaml. */
async function refusedIn(ws: TestWorkspace, worktree: string, why: string): Promise<void> {
  for (const args of [['task', 'list'], ['up'], ['status'], ['daemon']]) {
    const refused = await ws.program([...args, '--json'], { cwd: worktree });
    assert.equal(codeOf(refused), 'data_folder_unknown', `${why}, ${args}: ${refused.stdout}`);
  }
}

hostile(
  {
    attacker: 'worker',
    tries: 'leave a data folder in its worktree for the next svc that runs there',
    lite: 'refused',
    strict: 'refused',
  },
  async () => {
    const ws = await makeStrict('paths: { worktrees: ../worktrees }\n');
    const opened = await openHere(ws);
    try {
      const script = [
        'rm -rf .svc',
        'mkdir -m 700 .svc',
        'printf "%032d\\n" 0 > .svc/id',
        'cp /run/svc/daemon.json .svc/ 2>/dev/null',
        'ln -s /run/svc/daemon.json .svc/other',
        'chmod 600 .svc/id',
        'svc task list >/dev/null 2>&1 && echo REACHED',
        'echo planted',
      ].join('\n');
      ws.repository.commit({ 'plant.sh': script }, 'plant');
      const session = await started(opened.here, 'plant\n#agent: run sh plant.sh\n#agent: no-change', {
        keep_worktree: true,
      });
      const { worktree } = await ended(opened.here, session);
      assert.match(logOf(ws, session), /planted/);
      // The planted folder does not hinder the engine either.
      assert.match(logOf(ws, session), /REACHED/);
      assert.equal(existsSync(join(requireLocalPath(worktree), '.svc', 'id')), true);
      await refusedIn(ws, requireLocalPath(worktree), 'as the worker left it');

      // A worker under lite can also copy the real folder's id and content.
      rmSync(join(requireLocalPath(worktree), '.svc'), { recursive: true });
      mkdirSync(join(requireLocalPath(worktree), '.svc'), { mode: 0o700 });
      for (const name of ['id', 'daemon.json', 'svc.db'])
        cpSync(join(ws.root, '.svc', name), join(requireLocalPath(worktree), '.svc', name));
      await refusedIn(ws, requireLocalPath(worktree), 'with a copied id');
      rmSync(join(requireLocalPath(worktree), '.svc'), { recursive: true });
      symlinkSync(join(ws.root, '.svc'), join(requireLocalPath(worktree), '.svc'));
      await refusedIn(ws, requireLocalPath(worktree), 'as a link to the real one');
    } finally {
      await opened.host.close();
      await ws.close();
    }
  },
  { skip: impossible },
);

hostile(
  {
    attacker: 'worker',
    tries: 'pose as a sandbox’s engine by a folder at /run/svc',
    lite: 'rejected: a sandbox’s folder is not writable',
    strict: 'rejected: /run is hidden',
  },
  async (t) => {
    if (process.getuid?.() !== 0) return t.skip('only root can make a folder in /run');
    if (lstatSync('/run/svc', { throwIfNoEntry: false }) !== undefined)
      return t.skip('/run/svc is there already');
    const ws = await makeWorkspace();
    const heard: Buffer[] = [];
    const socket = join(ws.repository.folder, 'evil.sock');
    const server = createServer((line) => line.on('data', (chunk) => heard.push(chunk))).listen(socket);
    mkdirSync('/run/svc', { mode: 0o700 });
    try {
      writeFileSync(
        '/run/svc/daemon.json',
        JSON.stringify({ pid: process.pid, root: ws.root, socket, dataId: '' }),
      );
      for (const mode of [0o500, 0o555, 0o700]) {
        await import('node:fs').then(({ chmodSync }) => chmodSync('/run/svc', mode));
        const listed = await ws.program(['task', 'list', '--json']);
        assert.equal(listed.stdout.trim(), '[]', listed.stdout);
      }
      assert.deepEqual(heard, []);
      assert.equal(readdirSync(join(ws.root, '.svc')).includes('svc.db'), true);
    } finally {
      rmSync('/run/svc', { recursive: true });
      server.close();
      await ws.close();
    }
  },
);
