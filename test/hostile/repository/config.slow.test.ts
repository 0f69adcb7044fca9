import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { connectToEngine } from '../../../engine/index.ts';
import { hostile } from '../../support/hostile.ts';
import { until } from '../../support/wait.ts';
import { runHere } from '../../support/workspaces/command-line.ts';
import { gitEnvironment, makeRepository, temporaryFolder } from '../../support/workspaces/git.ts';
import { isRunning, SVC } from '../../support/workspaces/workspace.ts';

interface Clone {
  root: string;
  folder: string;
  env: NodeJS.ProcessEnv;
  /** A file that a command from the repository would create. */
  trace: string;
  svc(...args: string[]): ReturnType<typeof runHere>;
  close(): Promise<void>;
}

/** A command that creates the file, as an agent's template. */
const leaving = (trace: string): string => `sh -c 'touch "${trace}"; true' x {{prompt}}`;

/** A clone of another author's repository, with the machine home of a person who has never seen it. */
function makeClone(files: (about: { trace: string; folder: string }) => Record<string, string>): Clone {
  const origin = makeRepository();
  const { folder } = origin;
  const trace = join(folder, 'trace');
  origin.commit(files({ trace, folder }), 'with a configuration');
  const root = join(folder, 'clone');
  origin.gitIn(folder, 'clone', '--quiet', origin.root, root);
  const inherited = Object.entries(gitEnvironment()).filter(([name]) => !name.startsWith('SVC_'));
  const env = {
    ...Object.fromEntries(inherited),
    SVC_HOME: join(folder, 'home'),
    SVC_WEBHOOK_SECRET: 'a secret of mine',
  };
  return {
    root,
    folder,
    env,
    trace,
    svc: (...args) => runHere(args, { cwd: root, env, input: '' }),
    async close() {
      const client = await connectToEngine({ cwd: root, env }).catch(() => null);
      if (client !== null) {
        const { pid } = client.welcome;
        await client.call('engine.stop', { stop_workers: true }).catch(() => undefined);
        client.close();
        await until(() => !isRunning(pid));
      }
      origin.remove();
    },
  };
}

const yaml = (trace: string): string => `workspace: { name: theirs }
agents:
  default_preset: mine
  cmds: { mine: ${JSON.stringify(leaving(trace))} }
guard: { profile: none }
webhook: { secret_env: SVC_WEBHOOK_SECRET, require_approval: false }
ui: { addr: "127.0.0.1:0" }
`;

const codeOf = (text: string): string => (JSON.parse(text) as { error: { code: string } }).error.code;

hostile(
  {
    attacker: 'repository',
    tries: 'name programs, addresses and guards in its svc.yaml',
    lite: 'nothing is started before svc trust',
    strict: 'nothing is started before svc trust',
  },
  async (t) => {
    const clone = makeClone(({ trace }) => ({ 'svc.yaml': yaml(trace) }));
    t.after(clone.close);
    // Reads are served; anything that would start a program is refused, and the refusal names the command that helps.
    assert.equal((await clone.svc('task', 'list')).code, 0);
    const { consent, consent_pending: waits } = (await clone.svc('status', '--json')).json<{
      consent: string;
      consent_pending: string[];
    }>();
    assert.equal(consent, 'none');
    for (const key of ['agents.cmds', 'agents.default_preset', 'guard.profile', 'webhook.require_approval'])
      assert.ok(waits.includes(key), key);
    assert.match(
      (await clone.svc('status')).stdout,
      /never agreed to, so nothing is started until svc trust/,
    );
    const unknown = await clone.svc('task', 'add', 'work', '-a', 'scripted');
    assert.match(unknown.stderr, /^hint: agents\..* of svc\.yaml wait for svc trust; known: /m);
    const added = await clone.svc('task', 'add', 'work', '-a', 'claude', '--json');
    const id = added.json<{ task_id: string }>().task_id;
    const run = await clone.svc('task', 'run', id, '--json');
    assert.deepEqual([run.code, codeOf(run.stdout)], [3, 'consent_missing']);
    assert.match(run.stderr, /hint: svc trust/);
    assert.equal((await clone.svc('task', 'add', 'work', '-a', 'mine', '--json')).code, 2, 'no such agent');
    const serve = await clone.svc('webhook', 'serve', '--addr', '127.0.0.1:0', '--json');
    assert.equal(codeOf(serve.stdout), 'consent_missing');
    assert.equal(existsSync(clone.trace), false);
    // Doctor reports it, and consent shows the full values first.
    assert.match((await clone.svc('doctor')).stdout, /no one on this machine has agreed to agents/);
    const asked = await clone.svc('trust');
    assert.equal(asked.code, 2);
    assert.ok(asked.stderr.includes('agents.cmds.mine'), asked.stderr);
    assert.ok(asked.stderr.includes(clone.trace));
    assert.equal((await clone.svc('task', 'run', id)).code, 3, 'asking is not consent');
    // Consents to one key alone, then to all keys.
    assert.equal((await clone.svc('trust', '--key', 'guard.profile', '--yes')).code, 0);
    assert.equal((await clone.svc('config', 'get', 'guard.profile')).stdout.trim(), 'none');
    assert.notEqual((await clone.svc('config', 'get', 'agents.default_preset')).stdout.trim(), 'mine');
    assert.equal((await clone.svc('trust', '--yes')).code, 0);
    assert.equal((await clone.svc('task', 'add', 'work', '-a', 'mine', '--run', '-f')).code, 0);
    assert.equal(existsSync(clone.trace), true);
    // Changes from a later pull need consent; until then the earlier values apply.
    writeFileSync(
      join(clone.root, 'svc.yaml'),
      readFileSync(join(clone.root, 'svc.yaml'), 'utf8').replace('touch', 'touch /nowhere') +
        'bus: { max_acked: 7 }\n',
    );
    assert.ok(
      (await clone.svc('config', 'get', 'agents.cmds.mine')).stdout.includes(`touch "${clone.trace}"`),
    );
    assert.equal(
      (await clone.svc('config', 'get', 'bus.max_acked')).stdout.trim(),
      '7',
      'the key starts no program',
    );
  },
);

hostile(
  {
    attacker: 'repository',
    tries: 'move the data folder, the socket or the database by its svc.yaml',
    lite: 'the defaults count',
    strict: 'the defaults count',
  },
  async (t) => {
    const clone = makeClone(({ folder }) => ({
      'svc.yaml': `paths: { data: ${JSON.stringify(join(folder, 'victim'))} }\ndaemon: { socket: ${JSON.stringify(join(folder, 'victim.sock'))} }\ndb: { path: ${JSON.stringify(join(folder, 'victim.db'))} }\n`,
    }));
    t.after(clone.close);
    assert.equal((await clone.svc('task', 'list')).code, 0);
    assert.equal(existsSync(join(clone.root, '.svc', 'svc.db')), true);
    assert.deepEqual(
      readdirSync(clone.folder).filter((name) => name.startsWith('victim')),
      [],
    );
  },
);

hostile(
  {
    attacker: 'repository',
    tries: 'have its svc.yaml taken for one that git does not track',
    lite: 'waits for svc trust',
    strict: 'waits for svc trust',
  },
  async (t) => {
    const stateIn = async (cwd: string, env: NodeJS.ProcessEnv): Promise<string[]> =>
      (await runHere(['config', 'check', '--json'], { cwd, env, input: '' })).json<{ pending: string[] }>()
        .pending;
    const waits = async (name: string, cwd: string, env: NodeJS.ProcessEnv): Promise<void> =>
      assert.ok((await stateIn(cwd, env)).includes('agents.cmds'), name);
    const clone = makeClone(({ trace }) => ({
      'svc.yaml': yaml(trace),
      'configuration/real.yaml': yaml(trace),
      'linked/README': '',
      // A folder that looks like a bare repository and has its own configuration.
      'bare/HEAD': 'ref: refs/heads/main\n',
      'bare/config': `[core]\n\tbare = true\n\tfsmonitor = "touch ${trace}; false"\n`,
      'bare/objects/keep': '',
      'bare/refs/keep': '',
      'bare/svc.yaml': yaml(trace),
    }));
    t.after(clone.close);
    const { root, env, trace } = clone;
    const git = (...args: string[]) => execFileSync('git', args, { cwd: root, env, stdio: 'pipe' });
    await waits('as it was cloned', root, env);
    await waits('in what looks like a bare repository', join(root, 'bare'), env);
    symlinkSync('../configuration/real.yaml', join(root, 'linked', 'svc.yaml'));
    await waits('through a link that git does not track', join(root, 'linked'), env);
    // This configuration points elsewhere and names programs.
    const elsewhere = temporaryFolder();
    t.after(() => rmSync(elsewhere, { recursive: true, force: true }));
    git('config', 'core.worktree', elsewhere);
    git('config', 'core.fsmonitor', `touch ${trace}; false`);
    git('config', 'alias.ls-files', `!touch ${trace}`);
    git('config', 'core.hooksPath', join(root, 'hooks'));
    mkdirSync(join(root, 'hooks'));
    writeFileSync(join(root, 'hooks', 'post-index-change'), `#!/bin/sh\ntouch ${trace}\n`);
    chmodSync(join(root, 'hooks', 'post-index-change'), 0o755);
    await waits('with core.worktree elsewhere', root, env);
    // git cannot be run.
    await waits('without git', root, { ...env, PATH: join(root, 'no-programs') });
    // An inner repository that does not track the file does not hide the outer one.
    mkdirSync(join(root, 'configuration', 'inner'));
    execFileSync('git', ['init', '--quiet', join(root, 'configuration')], { env, stdio: 'pipe' });
    writeFileSync(join(root, 'configuration', 'svc.yaml'), '');
    rmSync(join(root, 'configuration', 'svc.yaml'));
    symlinkSync('real.yaml', join(root, 'configuration', 'svc.yaml'));
    await waits('below a repository of its own', join(root, 'configuration'), env);
    assert.equal(existsSync(trace), false, 'reading runs nothing');
    // The file has already needed consent; untracking it does not make this the first use.
    git('config', '--unset', 'core.worktree');
    git('config', '--unset', 'core.fsmonitor');
    assert.equal((await clone.svc('task', 'list')).code, 0);
    git('rm', '--quiet', '--cached', 'svc.yaml');
    await waits('no longer tracked', root, env);
  },
);

hostile(
  {
    attacker: 'repository',
    tries: 'include a consent, or hide its values from the reader',
    lite: 'refused',
    strict: 'refused',
  },
  async (t) => {
    const unseen = '\u202e\u200b\u00a0\u0007';
    const clone = makeClone(({ trace }) => ({
      'svc.yaml': `agents: { cmds: { ${JSON.stringify(`mine`)}: ${JSON.stringify(`sh -c "touch ${trace}${unseen}" {{prompt}}`)} } }\n`,
      '.config/svc/consents/x.json': '{}',
    }));
    t.after(clone.close);
    const { stderr } = await clone.svc('trust');
    for (const character of unseen) {
      assert.equal(stderr.includes(character), false);
      assert.ok(stderr.includes(`\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`), stderr);
    }
    // A consent that others can write is invalid.
    assert.equal((await clone.svc('trust', '--yes')).code, 0);
    const folder = join(clone.env.SVC_HOME ?? '', 'consents');
    const file = join(folder, readdirSync(folder)[0] ?? '');
    assert.equal(dirname(file), folder);
    const pending = async () =>
      (await clone.svc('config', 'check', '--json')).json<{ pending: string[] }>().pending;
    assert.deepEqual(await pending(), []);
    chmodSync(file, 0o666);
    assert.deepEqual(await pending(), ['agents.cmds']);
    chmodSync(file, 0o600);
    writeFileSync(file, '{ "root": ');
    assert.deepEqual(await pending(), ['agents.cmds']);
  },
);

hostile(
  {
    attacker: 'repository',
    tries: 'change svc.yaml between the display and the consent',
    lite: 'refused',
    strict: 'refused',
  },
  async (t) => {
    const clone = makeClone(({ trace }) => ({ 'svc.yaml': yaml(trace) }));
    t.after(clone.close);
    await clone.svc('up');
    const client = await connectToEngine({
      cwd: clone.root,
      env: clone.env,
      daemon: [process.execPath, SVC, 'daemon'],
    });
    t.after(() => client.close());
    const { digest } = await client.call('config.consent');
    const file = join(clone.root, 'svc.yaml');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('profile: none', 'profile: bring'));
    await assert.rejects(client.call('config.trust', { digest }), { code: 'conflict' });
    // Comments, layout and the order of keys do not matter.
    writeFileSync(
      file,
      `# a word\n${text.split('\n').toReversed().slice(1, 3).join('\n')}\n${text.split('\n').slice(0, -3).join('\n')}\n`,
    );
    assert.equal((await client.call('config.consent')).digest, digest);
    await client.call('config.trust', { digest });
  },
);
