import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type ConsentView, samples } from '../../../../engine/index.ts';
import {
  makeWorkspace,
  type TestWorkspace,
  type WorkspaceOptions,
} from '../../../support/workspaces/workspace.ts';

interface Desk {
  ws: TestWorkspace;
  /** The initial svc.yaml, which has consent. */
  own: string;
  write(text: string): void;
  pending(): Promise<string[]>;
}

async function makeDesk(t: TestContext, options: WorkspaceOptions = {}): Promise<Desk> {
  const ws = await makeWorkspace(options);
  t.after(ws.close);
  const file = join(ws.root, 'svc.yaml');
  return {
    ws,
    own: readFileSync(file, 'utf8'),
    write: (text) => writeFileSync(file, text),
    pending: async () => (await ws.svc(['config', 'check', '--json'])).json<{ pending: string[] }>().pending,
  };
}

for (const hasEngine of [true, false]) {
  describe(`svc trust ${hasEngine ? 'with an engine' : 'without an engine'}`, () => {
    const made = async (t: TestContext) => {
      const desk = await makeDesk(t);
      if (hasEngine) await desk.ws.svc(['up']);
      return desk;
    };

    test('svc trust with nothing pending says so for every option, and names an unknown key', async (t) => {
      const { ws } = await made(t);
      for (const args of [['trust'], ['trust', '--yes'], ['trust', '-y']]) {
        const { code, stdout } = await ws.svc(args);
        assert.equal(code, 0);
        assert.match(stdout, /svc\.yaml: nothing waits for consent/);
      }
      const json = (await ws.svc(['trust', '--json'])).json<ConsentView>();
      assert.deepEqual([json.state, json.pending], ['given', []]);
      for (const key of ['guard.profile', 'gard', 'agents.cmds.scripted']) {
        const { code, stderr } = await ws.svc(['trust', '--key', key]);
        assert.equal(code, 2);
        assert.match(stderr, new RegExp(`${key} is not waiting for consent\nhint: nothing is`));
      }
    });

    test('svc trust without a terminal shows everything, records nothing, and suggests the command that agrees', async (t) => {
      const { ws, own, write, pending } = await made(t);
      write(`${own}guard: { profile: none }\n`);
      for (const [args, hint] of [
        [['trust'], 'svc trust --yes'],
        [['trust', '--key', 'guard.profile'], 'svc trust --key guard.profile --yes'],
      ] as const) {
        // An answer through a pipe does not come from a person.
        const { code, stderr } = await ws.svc(args, { input: 'y\n', env: { SVC_SETUP_YES: '0' } });
        assert.equal(code, 2);
        assert.match(stderr, /guard\.profile\n {2}in use {4}\(not set\)\n {2}svc\.yaml {2}"none"/);
        assert.ok(stderr.includes(`hint: ${hint} agrees to what was shown`), stderr);
      }
      assert.deepEqual(await pending(), ['guard.profile']);
    });

    test('--key agrees to that key, several times to several; --yes and SVC_SETUP_YES to the rest', async (t) => {
      const { ws, own, write, pending } = await made(t);
      write(
        `${own}guard: { profile: none }\npolicy: { mode: solo, actors: [a] }\ngateway: { addr: "127.0.0.1:9" }\n`,
      );
      assert.deepEqual(
        new Set(await pending()),
        new Set(['policy.mode', 'policy.actors', 'guard.profile', 'gateway.addr']),
      );
      const one = await ws.svc(['trust', '--key', 'policy.mode', '--key', 'policy.actors', '--yes']);
      assert.equal(one.code, 0, one.stderr);
      assert.doesNotMatch(one.stderr, /guard\.profile|gateway/);
      assert.match(one.stderr, /note: 2 more wait/);
      assert.deepEqual(new Set(await pending()), new Set(['guard.profile', 'gateway.addr']));
      assert.equal((await ws.svc(['trust', '--key', 'policy.mode', '--yes'])).code, 2);
      const rest = await ws.svc(['trust', '--json'], { env: { SVC_SETUP_YES: '1' } });
      assert.equal(rest.code, 0, rest.stderr);
      assert.deepEqual([rest.json<ConsentView>().state, await pending()], ['given', []]);
    });

    test('a broken svc.yaml cannot be agreed to', async (t) => {
      const { ws, own, write } = await made(t);
      for (const text of [`${own}guard: [`, `${own}gard: {}\n`, `${own}guard: { profile: lose }\n`]) {
        write(text);
        for (const args of [['trust', '--yes'], ['trust', '--key', 'guard.profile', '--yes'], ['trust']]) {
          const { code, stderr } = await ws.svc(args, { env: { SVC_SETUP_YES: '1' } });
          assert.equal(code, 2, stderr);
          assert.match(stderr, /error: svc\.yaml:\d+/);
          assert.doesNotMatch(stderr, /nothing waits/);
        }
      }
      write(own);
      assert.match((await ws.svc(['trust'])).stdout, /nothing waits/);
    });
  });
}

describe('a variable for each route of the receiver', () => {
  const SECRETS = {
    SVC_OF_TASK: 'the secret of the tasks, the first',
    SVC_OF_TASK_2: 'the secret of the tasks, the second',
    SVC_OF_CHAT: 'the secret of the chat',
  };

  test('a pulled variable waits, is shown route by route without a value, and applies once agreed to', async (t) => {
    const { ws, own, pending } = await makeDesk(t, {
      yaml: 'webhook: { secret_env: { task: SVC_OF_TASK, chat: SVC_OF_CHAT } }\n',
      env: SECRETS,
    });
    const { git } = ws.repository;
    const pull = (text: string) => {
      git('checkout', '--quiet', '-B', 'theirs');
      writeFileSync(join(ws.root, 'svc.yaml'), text);
      git('commit', '--quiet', '--all', '--message', 'theirs');
      git('checkout', '--quiet', 'main');
      git('merge', '--quiet', '--ff-only', 'theirs');
    };
    const { buildSignedSample } = await samples();
    /** Returns the receiver's answer to a task that is signed with the secret in a variable. */
    const answers = async (name: keyof typeof SECRETS): Promise<number> => {
      const { path, method, headers, body } = buildSignedSample({
        ...{ route: 'task', secret: SECRETS[name], now: Date.now() },
        ...{ agent: 'scripted', prompt: 'x', dispatch: true },
      });
      return (await fetch(`http://${await ws.receiver()}${path}`, { method, headers, body })).status;
    };
    const restart = async () => {
      await ws.svc(['down']);
      await ws.svc(['up']);
    };
    await ws.svc(['up']);
    assert.deepEqual([await answers('SVC_OF_TASK'), await answers('SVC_OF_CHAT')], [201, 401]);

    // Another variable, the variable of the chat for tasks, one more route, one less, one for all: each needs
    // consent.
    const shapes: [shape: string, shown: RegExp][] = [
      [
        '{ task: SVC_OF_TASK, chat: SVC_OF_TASK_2 }',
        /secret_env\.chat\n {2}in use {4}"SVC_OF_CHAT"\n {2}svc\.yaml {2}"SVC_OF_TASK_2"\n/,
      ],
      [
        '{ task: SVC_OF_TASK, chat: SVC_OF_CHAT, decisions: SVC_OF_CHAT }',
        /secret_env\.decisions\n {2}in use {4}\(not set\)\n {2}svc\.yaml {2}"SVC_OF_CHAT"\n/,
      ],
      [
        '{ task: SVC_OF_TASK }',
        /secret_env\.chat\n {2}in use {4}"SVC_OF_CHAT"\n {2}svc\.yaml {2}\(not set\)\n/,
      ],
      ['SVC_OF_CHAT', /secret_env\n.*\n {2}svc\.yaml {2}"SVC_OF_CHAT"\n/],
      [
        '{ task: SVC_OF_TASK_2, chat: SVC_OF_CHAT }',
        /secret_env\.task\n {2}in use {4}"SVC_OF_TASK"\n {2}svc\.yaml {2}"SVC_OF_TASK_2"\n/,
      ],
    ];
    for (const [shape, expected] of shapes) {
      pull(own.replace(/secret_env: \{[^}]*\}/, `secret_env: ${shape}`));
      assert.deepEqual(await pending(), ['webhook.secret_env'], shape);
      const { stderr, stdout } = await ws.svc(['trust']);
      assert.match(stderr, expected);
      assert.equal((stderr.match(/in use/g) ?? []).length, 1, stderr);
      for (const secret of Object.values(SECRETS)) assert.ok(!`${stdout}${stderr}`.includes(secret));
    }
    // The same holds for an engine that starts afterwards.
    await restart();
    assert.deepEqual([await answers('SVC_OF_TASK'), await answers('SVC_OF_TASK_2')], [201, 401]);
    const { code, stdout, stderr } = await ws.svc(['trust', '--yes']);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /note: webhook\.secret_env take effect after svc down and svc up/);
    assert.match(stdout, /agreed to on this machine: webhook\.secret_env/);
    await restart();
    assert.deepEqual(
      [await answers('SVC_OF_TASK'), await answers('SVC_OF_TASK_2'), await answers('SVC_OF_CHAT')],
      [401, 201, 401],
    );
    assert.deepEqual(await pending(), []);
  });
});
