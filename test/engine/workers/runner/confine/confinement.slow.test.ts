import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readDaemonRecord } from '../../../../../engine/core/workspace/daemon-record.ts';
import type { EngineHost } from '../../../../../engine/index.ts';
import { createConfinement } from '../../../../../engine/workers/runner/confine/index.ts';
import {
  attempts,
  commandLines,
  ended,
  impossible,
  logOf,
  makeStrict,
  OVER_HTTP,
  openHere,
  said,
  started,
} from '../../../../support/agents/strict.ts';
import { until } from '../../../../support/wait.ts';
import { type EngineHere, engineHere } from '../../../../support/workspaces/engine.ts';
import { SVC } from '../../../../support/workspaces/workspace.ts';

describe('a strict worker', { skip: impossible ?? false }, () => {
  let ws: Awaited<ReturnType<typeof makeStrict>>;
  let here: EngineHere;
  let host: EngineHost;

  before(async () => {
    ws = await makeStrict();
    ws.repository.commit({ 'http.mjs': OVER_HTTP }, 'a client');
    ({ here, host } = await openHere(ws));
  });
  after(async () => {
    await here?.end();
    await ws?.close();
  });

  test('the worker does its work in its worktree and sees or changes nothing else', async () => {
    const other = await started(here, 'first\n#agent: edit other.txt other');
    await ended(here, other);
    const data = join(ws.root, '.svc');
    const tries = {
      'commit in its worktree': 'echo x > work.txt && git add work.txt && git commit -qm "work of its own"',
      'write its home and /tmp': 'echo x > "$HOME/x" && echo x > /tmp/x',
      'read the checkout': `cat ${ws.root}/README.md`,
      'read its own log': `cat ${data}/agents/*/log`,
      'read a file of the home': `cat ${ws.home}/notes.txt`,
      'read a key of the home': `cat ${ws.home}/.ssh/id_ed25519`,
      'read the database': `cat ${data}/svc.db`,
      'read the real record': `grep -q '"token": "[0-9a-f]' ${data}/daemon.json`,
      "read another's worktree": `cat ${data}/agents/worktrees/${other}/other.txt`,
      "read another's log": `cat ${data}/agents/${other}/log`,
      'write the checkout': `echo x > ${ws.root}/README.md`,
      'write the system': 'echo x > /etc/svc-test',
      'write a hook': `mkdir -p ${ws.root}/.git/hooks && echo x > ${ws.root}/.git/hooks/pre-commit`,
      'change the configuration of git': 'git config core.pager x',
      'move the branch of another': 'git update-ref refs/heads/main HEAD',
      'lead git elsewhere': `mv .git away || rm -f .git || echo "gitdir: /" > .git`,
      'make its git folder another': 'echo /tmp > "$(git rev-parse --git-dir)/commondir"',
      'give its worktree a configuration': 'echo x > "$(git rev-parse --git-dir)/config.worktree"',
      'let a later run read elsewhere': `echo ${ws.home} > "$(git rev-parse --git-common-dir)/objects/info/alternates"`,
      'make a namespace with rights over the mounts': `unshare -Urm sh -c "umount ${ws.home}" && cat ${ws.home}/notes.txt`,
      'see other processes': 'test "$(ls /proc | grep -c "^[0-9]")" -gt 12',
      'find an agent of ssh': 'test -n "$SSH_AUTH_SOCK"',
      'find a socket of the system': 'find /run /var/run/ -type s | grep -v svc.sock | grep .',
    };
    writeFileSync(join(ws.root, '.svc', 'tries.sh'), attempts(tries));
    ws.repository.commit({ 'tries.sh': attempts(tries) }, 'tries');
    const session = await started(here, 'second\n#agent: run sh tries.sh\n#agent: no-change');
    const end = await ended(here, session);
    const log = logOf(ws, session);
    assert.equal(end.failure, null, log);
    const can = Object.keys(tries).slice(0, 4);
    assert.deepEqual(said(log, 'CAN'), can, log);
    assert.deepEqual(said(log, 'CANNOT'), Object.keys(tries).slice(4));
    assert.match(ws.repository.git('log', '--format=%s', `svc/${session}`), /^work of its own$/m);
    assert.equal(ws.repository.git('fsck', '--strict'), '');
    assert.deepEqual(readdirSync(ws.home).sort(), ['.gitconfig', '.ssh', 'notes.txt']);
  });

  test('the worker keeps its branch while the refs of the repository are packed', async () => {
    const script =
      'touch ready; until [ -e go ]; do sleep 0.05; done; echo x > late.txt; git add late.txt; git commit -qm late';
    const session = await started(here, `packed\n#agent: run ${script}\n#agent: no-change`);
    const worktree = join(ws.root, '.svc', 'agents', 'worktrees', session);
    await until(() => existsSync(join(worktree, 'ready')));
    ws.repository.git('pack-refs', '--all', '--prune');
    ws.repository.git('config', 'svc.test', 'a new file of configuration');
    writeFileSync(join(worktree, 'go'), '');
    assert.equal((await ended(here, session)).failure, null, logOf(ws, session));
    assert.match(ws.repository.git('log', '--format=%s', `svc/${session}`), /^late$/m);
  });

  test('the engine recognises a worker that clears its marks or connects another way', async () => {
    const waiting = await here.ask('not for a worker to start');
    const { http, token } = readDaemonRecord(join(ws.root, '.svc'))!;
    const svc = `${process.execPath} ${SVC}`;
    const run = `task run ${waiting.task_id}`;
    const clean = `env -i PATH=$PATH HOME=$HOME`;
    const net = `require("net").connect(process.argv[1]).on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))`;
    const url = `http://127.0.0.1:${http.port}/mcp`;
    const script = [
      `svc status --json > /dev/null && echo REACHED`,
      `svc ${run} 2>&1; echo "code $?"`,
      `${clean} ${svc} ${run} 2>&1; echo "code $?"`,
      `${clean} SVC_SESSION=chair setsid ${svc} ${run} 2>&1; echo "code $?"`,
      `node -e '${net}' ${host.socket} && echo MAIN-SOCKET`,
      `${clean} node http.mjs ${url} ${token} ${waiting.task_id}`,
      `${clean} node http.mjs ${url} none ${waiting.task_id}`,
    ].join('\n');
    ws.repository.commit({ 'seat.sh': script }, 'seat');
    const session = await started(here, 'seat\n#agent: run sh seat.sh; true\n#agent: no-change');
    await ended(here, session);
    const log = logOf(ws, session);
    assert.match(log, /REACHED/);
    assert.equal(log.match(/^code 3$/gm)?.length, 3, log);
    assert.doesNotMatch(log, /MAIN-SOCKET/);
    const overHttp = log.split('\n').filter((line) => line.startsWith('HTTP'));
    assert.deepEqual([overHttp[0], overHttp.at(-1)], ['HTTP 200', 'HTTP 401'], log);
    assert.match(log, /chair_only|is for the Chair/, log);
    const { sessions } = await here.call('task.show', { id: waiting.task_id });
    assert.deepEqual(sessions, []);
  });

  test('the worker ends with everything that it has started, and leaves no socket', async () => {
    const script = `setsid env -i sh -c '(setsid sleep 98761 &) ; exec sleep 98762' & sleep 98763`;
    const session = await started(here, `stay\n#agent: run ${script}`);
    const sleeping = (): number => commandLines().filter((line) => /^sleep 9876[123]/.test(line)).length;
    await until(() => sleeping() === 3);
    const folder = join(ws.root, '.svc', 'agents', session);
    assert.ok(readdirSync(folder).length > 0);
    const { taskId } = here.engine.resolveSession(session);
    await here.call('task.cancel', { id: taskId });
    assert.equal((await ended(here, session)).failure?.code, 'cancelled');
    assert.equal(sleeping(), 0);
    const ofSession = ['agent', 'git', 'log', 'passwd'];
    await until(() => readdirSync(folder).every((name) => ofSession.includes(name)));
  });

  test('the worker passes on its exit code and its signal', async () => {
    const failing = await ended(here, await started(here, 'fails\n#agent: no-change\n#agent: fail 7'));
    assert.deepEqual([failing.failure?.code, failing.exitCode], ['exit_code', 7]);
    const killed = await ended(here, await started(here, 'dies\n#agent: run kill -9 $PPID'));
    assert.equal(killed.failure?.code, 'killed');
  });

  test('the worker of root starts although another user has a socket that only that user can reach', {
    skip: process.getuid?.() === 0 ? false : 'only root can create it',
  }, async () => {
    const folder = join(ws.repository.folder, 'of-another-user');
    mkdirSync(folder, { mode: 0o700 });
    const server = createServer().listen(join(folder, 'their.sock'));
    await once(server, 'listening');
    chownSync(folder, 65_533, 65_533);
    try {
      const session = await started(here, 'next to a socket\n#agent: edit next.txt x');
      assert.equal((await ended(here, session)).failure, null);
    } finally {
      server.close();
    }
  });

  test('the worker is adopted by the next engine and finds it', async () => {
    const script =
      'touch ready; until [ -e go ]; do sleep 0.05; done; svc status --json > /dev/null && echo REACHED';
    const session = await started(here, `survive\n#agent: run ${script}\n#agent: no-change`);
    const worktree = join(ws.root, '.svc', 'agents', 'worktrees', session);
    await until(() => existsSync(join(worktree, 'ready')));
    await host.close();
    ({ here, host } = await openHere(ws));
    writeFileSync(join(worktree, 'go'), '');
    assert.equal((await ended(here, session)).failure, null, logOf(ws, session));
    assert.match(logOf(ws, session), /REACHED/);
  });

  test('the worker cannot make git run something for the engine from its own repository', async () => {
    const marker = join(ws.repository.folder, 'marker');
    const commit = 'git -c user.name=a -c user.email=a@b commit -q -m x';
    const script = [
      `git init -q inner && cd inner && echo x > file && git add file && ${commit}`,
      `for key in core.fsmonitor filter.x.clean diff.external; do git config $key "touch ${marker}; cat"; done`,
      // The file has the same size but is newer, so git must read it and run the filter.
      'echo "* filter=x" > .git/info/attributes && touch -d "+1 hour" file && cd ..',
      `git add inner && ${commit}`,
    ].join('\n');
    ws.repository.commit({ 'inner.sh': script }, 'inner');
    const session = await started(here, 'inner\n#agent: run sh inner.sh 2>&1\n#agent: no-change');
    await ended(here, session);
    for (const operation of ['worktree.trial', 'worktree.diff'] as const)
      await here.call(operation, { session }).catch(() => undefined);
    await here.call('worktree.prune', { dry_run: true }).catch(() => undefined);
    assert.equal(existsSync(marker), false, logOf(ws, session));
    const worktree = join(ws.root, '.svc', 'agents', 'worktrees', session);
    ws.repository.gitIn(worktree, 'status');
    assert.ok(existsSync(marker), 'git without the overrides does run it');
  });

  test('the worker cannot make svc write through a link in its branch', async () => {
    const elsewhere = join(ws.repository.folder, 'elsewhere');
    const checkout = join(ws.repository.folder, 'linked');
    mkdirSync(elsewhere);
    ws.repository.git('worktree', 'add', '--quiet', '-b', 'linked', checkout);
    symlinkSync(elsewhere, join(checkout, '.svc'));
    ws.repository.gitIn(checkout, 'add', '--force', '.svc');
    ws.repository.gitIn(checkout, 'commit', '--quiet', '--message', 'a link');
    const { failure } = await ended(here, await started(here, 'linked', { base: 'linked' }));
    assert.equal(failure?.code, 'worktree_unsafe');
    assert.deepEqual(readdirSync(elsewhere), []);
  });

  test('the worker works in a home behind a link, in a workspace in that home', async () => {
    const real = join(ws.repository.folder, 'real-home');
    const home = join(ws.repository.folder, 'home-link');
    mkdirSync(join(real, 'project'), { recursive: true });
    symlinkSync(real, home);
    writeFileSync(join(real, 'private.txt'), 'private');
    const root = join(home, 'project');
    writeFileSync(join(root, 'svc.yaml'), 'workspace: {}\n');
    for (const words of [
      ['init', '-q'],
      ['add', '.'],
      ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'x'],
    ])
      ws.repository.gitIn(root, ...words);
    const data = join(root, '.svc');
    const [agents, worktree] = [join(data, 'agents'), join(data, 'agents', 'worktrees', 's-1')];
    const sessionFolder = join(agents, 's-1');
    mkdirSync(sessionFolder, { recursive: true });
    ws.repository.gitIn(root, 'worktree', 'add', '-q', '-b', 'svc/s-1', worktree);
    const confinement = createConfinement({
      env: process.env,
      root,
      configFile: join(root, 'svc.yaml'),
      paths: {
        data,
        db: join(data, 'svc.db'),
        socket: join(data, 's'),
        agents,
        worktrees: dirname(worktree),
      },
      machineHome: join(home, '.config', 'svc'),
      svc: [process.execPath, SVC],
    });
    const script =
      'cat ~/private.txt; cat "$0" && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m linked && echo DONE';
    const env = { PATH: process.env.PATH ?? '', HOME: home };
    const [program = '', ...words] = await confinement.wrap({
      argv: ['sh', '-c', script, join(root, 'svc.yaml')],
      cwd: worktree,
      env,
      worktree,
      sessionFolder,
      seatFolder: null,
      home: null,
    });
    const said = execFileSync(program, words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    assert.equal(said, 'workspace: {}\nDONE\n');
  });

  test('a worker in place writes the folder, but neither hooks nor the configuration', async () => {
    // A mount cannot be renamed; `mv` would copy it and delete its content.
    const rename = (path: string): string => `node -e 'require("fs").renameSync("${path}", "away")'`;
    const tries = {
      'write the folder': 'echo x > place.txt',
      commit: 'git add place.txt && git commit -qm "in place"',
      'write a hook': 'echo x > .git/hooks/pre-commit',
      'change the configuration of git': 'git config core.pager x',
      'change svc.yaml': 'echo x >> svc.yaml || mv svc.yaml away',
      'read the database': 'cat .svc/svc.db',
      'put another repository in its place': `${rename('.git')} && cp -r away .git && echo x > .git/hooks/pre-commit; code=$?; [ ! -e away ] || mv -T away .git; exit $code`,
      'let a later run read elsewhere': `${rename('.git/objects')} && mkdir -p .git/objects/info && echo ${ws.home} > .git/objects/info/alternates`,
      'make its git folder another': 'mkdir -p evil && cp .git/config evil && echo ../evil > .git/commondir',
    };
    ws.repository.commit({ 'place.sh': attempts(tries) }, 'place');
    const session = await started(here, 'place\n#agent: run sh place.sh\n#agent: no-change', {
      inplace: true,
    });
    assert.equal((await ended(here, session)).failure, null);
    assert.deepEqual(said(logOf(ws, session), 'CAN'), ['write the folder', 'commit'], logOf(ws, session));
    assert.equal(ws.repository.git('log', '-1', '--format=%s'), 'in place');
    assert.equal(existsSync(join(ws.root, '.git', 'commondir')), false);
  });
});

describe('a machine that cannot confine workers', () => {
  for (const [what, fake, code, says] of [
    ['bubblewrap is missing', null, 'tool_missing', /install bubblewrap/],
    [
      'namespaces are forbidden',
      'bwrap: setting up uid map: Permission denied',
      'confinement_unavailable',
      /uid map/,
    ],
  ] as const) {
    test(`a strict worker does not start when ${what}`, async () => {
      const ws = await makeStrict();
      const bin = join(ws.repository.folder, 'bin');
      mkdirSync(bin);
      const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
      symlinkSync(git, join(bin, 'git'));
      symlinkSync('/bin/sh', join(bin, 'sh'));
      if (fake !== null)
        writeFileSync(join(bin, 'bwrap'), `#!/bin/sh\necho '${fake}' >&2\nexit 1\n`, { mode: 0o755 });
      ws.env.PATH = `${bin}:${dirname(process.execPath)}`;
      const here = await engineHere(ws, { svc: [process.execPath, SVC] });
      try {
        const session = await started(here, `never\n#agent: edit ran.txt`);
        const { failure } = await ended(here, session);
        assert.equal(failure?.code, code);
        assert.match(failure?.text ?? '', says);
        assert.equal(existsSync(join(ws.root, '.svc', 'agents', 'worktrees', session, 'ran.txt')), false);
      } finally {
        await here.close();
        await ws.close();
      }
    });
  }
});
