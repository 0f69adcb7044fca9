import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createSeatbeltSandbox } from '../../../../../engine/core/platform/darwin/sandbox/index.ts';
import { claude } from '../../../../../engine/workers/agents/presets/claude.ts';
import { createConfinement } from '../../../../../engine/workers/runner/confine/index.ts';
import { readProfile } from '../../../../support/seatbelt-profile.ts';
import { makeRepository } from '../../../../support/workspaces/git.ts';

/** An ordinary user: the sandbox refuses root. */
const UID = 1000;

/** A stand-in that reports nothing open, as a working sandbox would. */
const CLOSED = 'exit 0';
/** A stand-in that does not confine: it drops the profile and runs the command. */
const OPEN = `shift 2
while [ "$1" = -D ]; do shift 2; done
exec "$@"`;

/** Prepares a session's worktree, and a confinement whose sandbox-exec is a shell script. */
function prepare(t: TestContext, script: string | null) {
  const repository = makeRepository();
  t.after(repository.remove);
  const { root, folder } = repository;
  const data = join(root, '.svc');
  const agents = join(data, 'agents');
  const [worktree, sessionFolder] = [join(agents, 'worktrees', 's-1'), join(agents, 's-1')];
  const [home, bin] = [join(folder, 'person'), join(folder, 'bin')];
  for (const each of [sessionFolder, join(home, '.claude'), join(home, '.ssh'), bin])
    mkdirSync(each, { recursive: true });
  writeFileSync(join(home, '.claude', 'settings.json'), '{}');
  writeFileSync(join(home, '.claude', '.credentials.json'), '{}');
  writeFileSync(join(home, '.gitconfig'), '');
  writeFileSync(join(data, 'svc.db'), 'private');
  writeFileSync(join(root, 'svc.yaml'), '');
  repository.git('worktree', 'add', '--quiet', '-b', 'svc/s-1', worktree);
  if (script !== null) {
    writeFileSync(join(bin, 'sandbox-exec'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, 'sandbox-exec'), 0o755);
  }
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: home };
  const sandbox = createSeatbeltSandbox(UID);
  const confinement = createConfinement({
    env,
    root,
    configFile: join(root, 'svc.yaml'),
    paths: {
      data,
      db: join(data, 'svc.db'),
      socket: join(data, 's'),
      agents,
      worktrees: join(agents, 'worktrees'),
    },
    machineHome: join(home, '.config', 'svc'),
    svc: null,
    sandbox: { canMount: false, load: async () => sandbox },
  });
  const spec = {
    argv: ['/bin/sh', '-c', ':'],
    cwd: worktree,
    env,
    worktree,
    sessionFolder,
    seatFolder: join(sessionFolder, 'seat'),
    home: claude.home,
  };
  return { root, home, data, agents, worktree, sessionFolder, sandbox, confinement, spec, env };
}

/** Reads the profile that a command names, and where its variables point. */
function readCommand(argv: readonly string[]) {
  const parameters = new Map(
    argv.flatMap((word, at) => {
      const [, name, path] = (argv[at - 1] === '-D' && /^(P\d+)=(.*)$/.exec(word)) || [];
      return name === undefined || path === undefined ? [] : [[name, path] as const];
    }),
  );
  const profile = argv[argv.indexOf('-p') + 1] ?? assert.fail();
  const variables = new Map(
    argv.flatMap((word) => [/^([A-Z]+)=(.*)$/.exec(word)?.slice(1) as [string, string]]).filter(Boolean),
  );
  return { allows: readProfile(profile, parameters), variables };
}

describe("a strict worker in macOS's sandbox", () => {
  test('the worker writes its worktree and its own folders, and sees what it sees on Linux', async (t) => {
    const { root, home, data, agents, worktree, sessionFolder, confinement, spec } = prepare(t, CLOSED);
    const { allows, variables } = readCommand(await confinement.wrap(spec));
    const kept = join(realpathSync(sessionFolder), 'agent');
    const read = (path: string) => allows({ operation: 'file-read-data', path });
    const write = (path: string) => allows({ operation: 'file-write-data', path });
    assert.deepEqual(
      [variables.get('HOME'), variables.get('TMPDIR')],
      [join(kept, 'home'), join(kept, 'tmp')],
    );
    const shown = (path: string) => (write(path) ? 'write' : read(path) ? 'read' : 'hidden');
    const git = join(root, '.git');
    assert.deepEqual(
      {
        worktree: shown(join(worktree, 'new.txt')),
        mark: shown(join(worktree, '.git')),
        hooks: shown(join(git, 'hooks', 'pre-commit')),
        objects: shown(join(git, 'objects', 'aa', 'b')),
        branch: shown(join(git, 'refs', 'heads', 'svc', 's-1')),
        index: shown(join(git, 'worktrees', 's-1', 'index')),
        checkout: shown(join(root, 'README.md')),
        configuration: shown(join(root, 'svc.yaml')),
        database: shown(join(data, 'svc.db')),
        otherSession: shown(join(agents, 's-2', 'log')),
        log: shown(join(sessionFolder, 'log')),
        home: shown(join(kept, 'home', 'x')),
        temporary: shown(join(kept, 'tmp', 'x')),
        key: shown(join(home, '.ssh', 'id')),
        login: shown(join(home, '.claude', '.credentials.json')),
        settings: shown(join(home, '.claude', 'settings.json')),
        transcripts: shown(join(home, '.claude', 'projects', 'x')),
        identity: shown(join(home, '.gitconfig')),
        system: shown('/usr/bin/env'),
        service: shown('/etc/passwd'),
      },
      {
        worktree: 'write',
        mark: 'read',
        hooks: 'read',
        objects: 'read',
        branch: 'read',
        index: 'read',
        checkout: 'read',
        configuration: 'read',
        database: 'hidden',
        otherSession: 'hidden',
        log: 'read',
        home: 'write',
        temporary: 'write',
        key: 'hidden',
        login: 'write',
        settings: 'read',
        transcripts: 'hidden',
        identity: 'read',
        system: 'read',
        service: 'read',
      },
    );
    // Its home leads to what it may see of the person's.
    const own = join(kept, 'home');
    assert.equal(readlinkSync(join(own, '.gitconfig')), join(realpathSync(home), '.gitconfig'));
    assert.equal(readFileSync(join(own, '.claude', 'settings.json'), 'utf8'), '{}');
    assert.ok(lstatSync(join(own, '.claude')).isDirectory());
    assert.ok(!existsSync(join(own, '.ssh')));
  });

  test('a link that an earlier run left in its home is replaced, and leads nowhere', async (t) => {
    const { sessionFolder, home, confinement, spec } = prepare(t, CLOSED);
    await confinement.wrap(spec);
    const identity = join(sessionFolder, 'agent', 'home', '.gitconfig');
    rmSync(identity);
    symlinkSync(join(home, '.ssh'), identity);
    await confinement.wrap(spec);
    assert.equal(readlinkSync(identity), join(realpathSync(home), '.gitconfig'));
    rmSync(join(sessionFolder, 'agent', 'tmp'), { recursive: true });
    symlinkSync(home, join(sessionFolder, 'agent', 'tmp'));
    await assert.rejects(confinement.wrap(spec), { code: 'confinement_unavailable', message: /agent\/tmp/ });
  });

  test('a rerun of its tests has an empty home, and writes nothing of the session', async (t) => {
    const { worktree, sessionFolder, confinement, spec } = prepare(t, CLOSED);
    const { allows, variables } = readCommand(await confinement.wrap({ ...spec, home: null, isGuest: true }));
    const kept = join(realpathSync(sessionFolder), 'agent');
    const write = (path: string) => allows({ operation: 'file-write-data', path });
    assert.deepEqual(
      [worktree, kept, variables.get('HOME') ?? '', variables.get('TMPDIR') ?? ''].map((path) =>
        write(join(path, 'x')),
      ),
      [true, false, true, true],
    );
    writeFileSync(join(variables.get('HOME') ?? '', 'left'), '');
    await confinement.wrap({ ...spec, home: null, isGuest: true });
    assert.ok(!existsSync(join(variables.get('HOME') ?? '', 'left')));
  });

  test('the trial refuses a sandbox that does not confine, and one that does not start', async (t) => {
    const open = prepare(t, OPEN);
    await assert.rejects(open.confinement.wrap(open.spec), {
      code: 'confinement_unavailable',
      message: /the sandbox was tested, and (?:it can signal|.*is writable|.*is visible)/,
    });
    await assert.rejects(open.sandbox.check(open.env), { code: 'confinement_unavailable' });
    const broken = prepare(t, "echo 'sandbox-exec: profile:3: unbound variable: file-linkk' >&2; exit 65");
    await assert.rejects(broken.confinement.wrap(broken.spec), {
      code: 'confinement_unavailable',
      message: /cannot be confined: profile:3: unbound variable/,
    });
  });

  test('a machine without sandbox-exec, and root, are refused with the reason', async (t) => {
    const { confinement, spec, env } = prepare(t, null);
    await assert.rejects(confinement.wrap(spec), { code: 'tool_missing', message: /sandbox-exec/ });
    const { env: found } = prepare(t, CLOSED);
    await assert.rejects(createSeatbeltSandbox(0).check(found), { message: /root/ });
    await assert.rejects(createSeatbeltSandbox(UID).check(env), { code: 'tool_missing' });
  });

  test('a program that only reads a folder gets no network, home or other folder', async (t) => {
    const { root, home, sandbox, env } = prepare(t, CLOSED);
    const argv = await sandbox.wrapReader(
      { argv: ['/bin/cat'], folder: realpathSync(root), without: [join(root, '.svc')], files: [] },
      env,
    );
    const { allows } = readCommand(argv);
    const read = (path: string) => allows({ operation: 'file-read-data', path });
    assert.deepEqual(
      [join(root, 'README.md'), join(root, '.svc', 'svc.db'), join(home, '.gitconfig')].map(read),
      [true, false, false],
    );
    assert.equal(allows({ operation: 'network-outbound', name: 'ip' }), false);
    assert.equal(allows({ operation: 'file-write-data', path: join(root, 'x') }), false);
  });
});
