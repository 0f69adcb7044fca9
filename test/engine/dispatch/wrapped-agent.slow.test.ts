import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { claudeSays, makeRoutedRig, type RoutedRig } from './rig.ts';

/** A script that starts the agent, with the prompt as its only argument. */
const SCRIPT = '#!/bin/sh\nexec claude -- "$1"\n';

describe('a command that starts an agent through another program', () => {
  let rig: RoutedRig;
  before(async () => {
    rig = await makeRoutedRig();
    writeFileSync(join(rig.ws.repository.folder, 'bin', 'my-claude'), SCRIPT, { mode: 0o755 });
  });
  after(() => rig.close());

  const configure = (key: string, value: string) => rig.ws.svc(['config', 'set', `agents.${key}`, value]);
  /** Configures this command for claude, with its model calls through the gateway. */
  async function route(command: string): Promise<void> {
    await configure('cmds.claude', command);
    await configure('auth.claude', 'gateway');
    await rig.down();
    await rig.up();
  }
  for (const command of [
    'nice -n 1 claude -- {{prompt}}',
    'env -- SVC_X=1 claude -- {{prompt}}',
    'env -u SOMETHING timeout -k 5 60 nice claude -- {{prompt}}',
  ])
    test(`"${command}" gets the route, the tools and the hooks of its agent`, async () => {
      await route(command);
      const { session_id } = await rig.run(['no-change', 'echo-env']);
      const ended = await rig.settled(session_id);
      assert.deepEqual([ended.failure, ended.auth], [null, 'gateway']);
      assert.equal(rig.environment(session_id).ANTHROPIC_BASE_URL, rig.url);
      const words = rig.starts().at(-1) ?? [];
      assert.ok(words.some((word) => word.startsWith('--mcp-config=')));
      assert.match(words.find((word) => word.startsWith('--settings=')) ?? '', /"hook","pre-write"/);
      assert.equal(words.at(-2), '--');
    });

  test('a script named claude has the route in its variables, and no options', async () => {
    await route('my-claude {{prompt}}');
    const { session_id } = await rig.run([
      'no-change',
      'echo-env',
      claudeSays.init('c-1'),
      claudeSays.result(),
    ]);
    const ended = await rig.settled(session_id);
    assert.deepEqual([ended.failure, ended.auth], [null, 'gateway']);
    const env = rig.environment(session_id);
    assert.deepEqual([env.ANTHROPIC_BASE_URL, env.ANTHROPIC_AUTH_TOKEN], [rig.url, env.SVC_VKEY]);
    assert.equal(rig.starts().at(-1)?.length, 2);
  });

  test('a script of claude does not run where a settings file would lead it past the gateway', async () => {
    await route('my-claude {{prompt}}');
    rig.ws.repository.commit({
      '.claude/settings.json': JSON.stringify({ env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' } }),
    });
    const before = rig.starts().length;
    const { session_id } = await rig.run(['no-change']);
    const { failure } = await rig.settled(session_id);
    assert.equal(failure?.code, 'gateway_unroutable');
    assert.match(failure?.text ?? '', /\.claude\/settings\.json sets ANTHROPIC_BASE_URL/);
    assert.equal(rig.starts().length, before);
    // Settings that svc passes as an option override the file's.
    await route('nice claude -- {{prompt}}');
    const { session_id: routed } = await rig.run(['no-change']);
    assert.equal((await rig.settled(routed)).failure, null);
  });

  for (const [agent, command, why] of [
    [
      'codex',
      'my-claude {{prompt}}',
      /codex takes its route as options, which cannot be passed to a different program \(my-claude\)/,
    ],
    ['claude', 'env -i claude -- {{prompt}}', /clears the environment/],
    ['gemini', 'env GEMINI_API_KEY=mine gemini --prompt={{prompt}}', /changes GEMINI_API_KEY/],
    ['other', 'my-claude {{prompt}}', /svc does not know how to route my-claude/],
  ] as const)
    test(`"${command}" of ${agent} is refused, since it cannot be routed`, async () => {
      await configure('auth', '{}');
      const set = await configure(`cmds.${agent}`, command);
      const refused = agent === 'gemini' ? set : await configure(`auth.${agent}`, 'gateway');
      assert.notEqual(refused.code, 0);
      assert.match(refused.stderr, /gateway_unroutable/);
      assert.match(refused.stderr, why);
    });

  test('a dispatch by a protocol server that cannot be routed is refused, and nothing runs', async () => {
    await configure('acp.claude', 'env -i claude-agent-acp');
    await route('claude -- {{prompt}}');
    const before = rig.starts().length;
    const { session_id } = await rig.run(['no-change'], { env: { SVC_AGENT_TRANSPORT: 'acp' } });
    assert.equal((await rig.settled(session_id)).failure?.code, 'gateway_unroutable');
    assert.equal(rig.starts().length, before);
  });
});
