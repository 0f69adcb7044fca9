import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  folderOf,
  giveFolderTo,
  hostile,
  ordinaryUser,
  runAs,
  type TestUser,
} from '../../support/hostile.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { SVC } from '../../support/workspaces/workspace.ts';

const other = ordinaryUser();
const skip = other === null ? 'only root can make another user' : null;
const neighbour: TestUser = { label: 'a neighbour', name: '', uid: 65534, gid: 65534, isRoot: false };
const root: TestUser = { label: 'root', name: 'root', uid: 0, gid: 0, isRoot: true };

/** A victim's folder that every user can enter. */
function commonFolder(): string {
  const folder = temporaryFolder('svc-common-');
  chmodSync(folder, 0o1777);
  return folder;
}

const envOf = (home: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: home,
  ...more,
});

async function svc(user: TestUser, cwd: string, env: NodeJS.ProcessEnv, ...args: string[]) {
  const ended = await runAs(user, [process.execPath, SVC, ...args, '--json'], { cwd, env });
  const read = (): { code: string; message: string; hint: string | null } =>
    (JSON.parse(ended.stdout) as { error: { code: string; message: string; hint: string | null } }).error;
  return { ...ended, error: read };
}

hostile(
  {
    attacker: 'neighbour',
    tries: 'leave a svc.yaml above another user’s folder',
    lite: 'refused, with its owner',
    strict: 'refused, with its owner',
  },
  async () => {
    const victim = other as TestUser;
    const home = folderOf(victim);
    const common = commonFolder();
    const marker = join(common, 'ran');
    const evil = `agents: { cmds: { evil: "touch ${marker} {{prompt}}" }, default_preset: evil }\n`;
    const below = join(common, 'work', 'deep');
    mkdirSync(below, { recursive: true });
    giveFolderTo(join(common, 'work'), victim);
    for (const [name, file] of [
      ['in a folder above', join(common, 'svc.yaml')],
      ['in the very folder', join(below, 'svc.yaml')],
    ] as const) {
      writeFileSync(file, evil);
      chownSync(file, neighbour.uid, neighbour.gid);
      for (const args of [['task', 'list'], ['up'], ['config', 'show'], ['daemon']]) {
        const refused = await svc(victim, below, envOf(home), ...args);
        assert.equal(refused.error().code, 'owner_untrusted', `${name}: ${refused.stdout}`);
        assert.match(refused.error().message, /uid 65534/);
      }
      chownSync(file, victim.uid, victim.gid);
    }
    // A link in the victim's repository leads to it, or a variable names it.
    const theirs = join(common, 'theirs.yaml');
    writeFileSync(theirs, evil);
    chownSync(theirs, neighbour.uid, neighbour.gid);
    const linked = join(common, 'work', 'linked');
    mkdirSync(linked);
    symlinkSync(theirs, join(linked, 'svc.yaml'));
    giveFolderTo(linked, victim);
    assert.equal((await svc(victim, linked, envOf(home), 'up')).error().code, 'owner_untrusted');
    const named = await svc(victim, below, envOf(home, { SVC_CONFIG: theirs }), 'up');
    assert.equal(named.error().code, 'owner_untrusted');
    // The victim's own file, in a folder whose owner can replace it.
    const foreign = join(common, 'foreign');
    mkdirSync(foreign, { mode: 0o777 });
    chmodSync(foreign, 0o777);
    writeFileSync(join(foreign, 'svc.yaml'), '');
    chownSync(join(foreign, 'svc.yaml'), victim.uid, victim.gid);
    chownSync(foreign, neighbour.uid, neighbour.gid);
    assert.equal((await svc(victim, foreign, envOf(home), 'up')).error().code, 'owner_untrusted');
    // A file that every user can write.
    chmodSync(join(below, 'svc.yaml'), 0o666);
    assert.match((await svc(victim, below, envOf(home), 'up')).error().hint ?? '', /^chmod o-w/);
    // None of them keeps victims from creating their own workspace.
    const own = join(common, 'work', 'own');
    mkdirSync(own);
    giveFolderTo(own, victim);
    chownSync(join(common, 'svc.yaml'), neighbour.uid, neighbour.gid);
    const made = await svc(victim, own, envOf(home), 'init');
    assert.equal(made.code, 0, made.stdout);
    assert.equal(existsSync(marker), false);
  },
  { skip },
);

hostile(
  {
    attacker: 'neighbour',
    tries: 'have root use their workspace',
    lite: 'refused, unless they called sudo',
    strict: 'refused, unless they called sudo',
  },
  async () => {
    const owner = other as TestUser;
    const work = folderOf(owner);
    const home = folderOf(root);
    writeFileSync(join(work, 'svc.yaml'), 'workspace: { name: theirs }\n');
    giveFolderTo(work, owner);
    const config = (env: NodeJS.ProcessEnv) => svc(root, work, env, 'config', 'check');
    const refused = await config(envOf(home));
    assert.equal(refused.error().code, 'owner_untrusted');
    assert.match(refused.error().message, new RegExp(owner.name));
    for (const SUDO_UID of ['', 'x', `${owner.uid}x`, String(neighbour.uid)])
      assert.equal((await config(envOf(home, { SUDO_UID }))).error().code, 'owner_untrusted', SUDO_UID);
    assert.equal((await config(envOf(home, { SUDO_UID: String(owner.uid) }))).code, 0);
    // The command in the refusal's hint.
    const allow = await runAs(root, ['/bin/sh', '-c', refused.error().hint?.replace(/^[^:]*: /, '') ?? ''], {
      cwd: work,
      env: envOf(home),
    });
    assert.equal(allow.code, 0, allow.stderr);
    assert.equal((await config(envOf(home))).code, 0);
    // The owner does not trust a data folder that root has made.
    assert.equal((await svc(root, work, envOf(home), 'task', 'list')).code, 0);
    await svc(root, work, envOf(home), 'down');
    const theirs = await svc(owner, work, envOf(join(work, 'home')), 'task', 'list');
    assert.equal(theirs.error().code, 'data_folder_unknown');
    assert.match(theirs.error().message, /root/);
    // SUDO_UID is ignored unless the user is root.
    const victim: TestUser = { ...neighbour };
    const alone = folderOf(victim);
    chmodSync(work, 0o755);
    const spoofed = await svc(
      victim,
      work,
      envOf(join(alone, 'home'), { SUDO_UID: String(owner.uid) }),
      'config',
      'check',
    );
    assert.equal(spoofed.error().code, 'owner_untrusted');
  },
  { skip },
);

hostile(
  {
    attacker: 'neighbour',
    tries: 'own or write another user’s machine home',
    lite: 'refused',
    strict: 'refused',
  },
  async () => {
    const victim = other as TestUser;
    const work = folderOf(victim);
    writeFileSync(join(work, 'svc.yaml'), '');
    giveFolderTo(work, victim);
    const home = join(commonFolder(), 'home');
    const reset = (): void => {
      mkdirSync(join(home, 'data-folders'), { recursive: true });
      for (const name of ['keys.env', 'ai.yaml']) writeFileSync(join(home, name), '');
      chmodSync(home, 0o700);
      giveFolderTo(home, victim);
      chmodSync(join(home, 'data-folders'), 0o700);
    };
    const env = envOf(join(work, 'home'), { SVC_HOME: home });
    reset();
    assert.equal((await svc(victim, work, env, 'task', 'list')).code, 0);
    const faults: Record<string, () => void> = {
      'the home of a neighbour': () => chownSync(home, neighbour.uid, neighbour.gid),
      'a home that everybody may write': () => chmodSync(home, 0o777),
      'keys of a neighbour': () => chownSync(join(home, 'keys.env'), neighbour.uid, neighbour.gid),
      'keys that everybody may write': () => chmodSync(join(home, 'keys.env'), 0o606),
      'models of a neighbour': () => chownSync(join(home, 'ai.yaml'), neighbour.uid, neighbour.gid),
    };
    for (const [name, fault] of Object.entries(faults)) {
      fault();
      if (name.startsWith('the home')) chmodSync(home, 0o755);
      assert.equal((await svc(victim, work, env, 'config', 'check')).error().code, 'owner_untrusted', name);
      reset();
    }
    for (const fault of [
      () => chownSync(join(home, 'data-folders'), neighbour.uid, neighbour.gid),
      () => chmodSync(join(home, 'data-folders'), 0o777),
    ]) {
      fault();
      assert.equal((await svc(victim, work, env, 'task', 'list')).error().code, 'owner_untrusted');
      reset();
    }
    assert.equal((await svc(victim, work, env, 'task', 'list')).code, 0);
    await svc(victim, work, env, 'down');
  },
  { skip },
);

hostile(
  {
    attacker: 'neighbour',
    tries: 'write into a data folder with loose permissions',
    lite: 'refused until they are fixed',
    strict: 'refused until they are fixed',
  },
  async () => {
    const victim = other as TestUser;
    const work = folderOf(victim);
    writeFileSync(join(work, 'svc.yaml'), '');
    giveFolderTo(work, victim);
    const env = envOf(join(work, 'home'));
    assert.equal((await svc(victim, work, env, 'up')).code, 0);
    await svc(victim, work, env, 'down');
    for (const name of ['', 'svc.db', 'agents', 'host.lock']) {
      const path = join(work, '.svc', name);
      for (const mode of [0o770, 0o707]) {
        chmodSync(path, mode);
        const refused = await svc(victim, work, env, 'up');
        assert.equal(refused.error().code, 'data_folder_unknown', `${name} ${mode.toString(8)}`);
        assert.match(refused.error().hint ?? '', /^chmod /);
      }
      chmodSync(path, name.includes('.') ? 0o600 : 0o700);
    }
    // A file of the neighbour, left while the folder was open.
    writeFileSync(join(work, '.svc', 'svc.db-wal'), '');
    chownSync(join(work, '.svc', 'svc.db-wal'), neighbour.uid, neighbour.gid);
    assert.equal((await svc(victim, work, env, 'up')).error().code, 'data_folder_unknown');
  },
  { skip },
);

hostile(
  {
    attacker: 'neighbour',
    tries: 'create the socket folder of a deep workspace first',
    lite: 'refused, nothing is sent there',
    strict: 'refused, nothing is sent there',
  },
  async () => {
    const victim = other as TestUser;
    const work = folderOf(victim);
    const deep = join(work, ...Array.from({ length: 8 }, (_, index) => `a-rather-long-folder-name-${index}`));
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, 'svc.yaml'), '');
    giveFolderTo(work, victim);
    const common = commonFolder();
    const ours = join(common, `svc-${victim.uid}`);
    const env = envOf(join(work, 'home'), { TMPDIR: common });
    const refused = async (why: string): Promise<void> => {
      const up = await svc(victim, deep, env, 'up');
      assert.equal(up.error().code, 'storage_unsafe', `${why}: ${up.stdout}`);
      assert.match(up.error().hint ?? '', /daemon\.socket/);
    };
    mkdirSync(ours, { mode: 0o777 });
    chownSync(ours, neighbour.uid, neighbour.gid);
    await refused('of a neighbour');
    chownSync(ours, victim.uid, victim.gid);
    chmodSync(ours, 0o777);
    await refused('that everybody may write');
    await runAs(root, ['rmdir', ours], { cwd: '/' });
    symlinkSync(work, ours);
    await refused('a link');
    await runAs(root, ['rm', ours], { cwd: '/' });
    chmodSync(common, 0o777);
    await refused('in a folder without the sticky bit');
    // XDG_RUNTIME_DIR, but only if it belongs to this user.
    const runtime = join(common, 'runtime');
    mkdirSync(runtime, { mode: 0o700 });
    chownSync(runtime, neighbour.uid, neighbour.gid);
    env.XDG_RUNTIME_DIR = runtime;
    await refused('with the runtime folder of a neighbour');
    env.XDG_RUNTIME_DIR = 'relative';
    await refused('with a relative one');
    chmodSync(common, 0o1777);
    env.XDG_RUNTIME_DIR = runtime;
    chownSync(runtime, victim.uid, victim.gid);
    assert.equal((await svc(victim, deep, env, 'up')).code, 0);
    const record = JSON.parse(readFileSync(join(deep, '.svc', 'daemon.json'), 'utf8')) as { socket: string };
    assert.equal(record.socket.startsWith(join(runtime, 'svc')), true, record.socket);
    // A client with another environment still finds it.
    delete env.XDG_RUNTIME_DIR;
    assert.equal((await svc(victim, deep, env, 'status')).code, 0);
    await svc(victim, deep, env, 'down');
    assert.equal((await svc(victim, deep, env, 'up')).code, 0);
    await svc(victim, deep, env, 'down');
  },
  { skip },
);

hostile(
  {
    attacker: 'neighbour',
    tries: 'listen at daemon.socket in a folder that everyone may write',
    lite: 'refused, nothing is sent there',
    strict: 'refused, nothing is sent there',
  },
  async (t) => {
    const victim = other as TestUser;
    const work = folderOf(victim);
    const common = commonFolder();
    const path = join(common, 'engine.sock');
    writeFileSync(join(work, 'svc.yaml'), `daemon: { socket: ${path} }\n`);
    giveFolderTo(work, victim);
    const env = envOf(join(work, 'home'));
    assert.equal((await svc(victim, work, env, 'up')).code, 0);
    await svc(victim, work, env, 'down');
    const heard = join(common, 'heard');
    const { spawn } = await import('node:child_process');
    const listener = spawn(
      process.execPath,
      [
        '-e',
        `require('net').createServer((s) => s.on('data', (d) => require('fs').appendFileSync(${JSON.stringify(heard)}, d))).listen(${JSON.stringify(path)}, () => console.log('up'))`,
      ],
      { uid: neighbour.uid, gid: neighbour.gid, cwd: '/' },
    );
    t.after(() => listener.kill('SIGKILL'));
    await new Promise((resolve) => listener.stdout.once('data', resolve));
    for (const args of [['status'], ['up'], ['task', 'list']]) {
      const refused = await svc(victim, work, env, ...args);
      assert.equal(refused.error().code, 'storage_unsafe', refused.stdout);
    }
    assert.equal(existsSync(heard), false);
  },
  { skip },
);
